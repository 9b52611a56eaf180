/** Transfers in words. */
import type { Transfer } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';

export function titleOf({ type, filename, path }: Pick<Transfer, 'type' | 'filename' | 'path'>): string {
  return `${t.transfers.types[type]} ${filename === '' ? path : filename}`;
}
