/** A problem that needs a person, in one line, and a link to its screen. */
import { attentionPage, attentionText } from '../../../../contract/attention.ts';
import type { Trouble } from '../../api/types.ts';
import { formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';

export function titleOf({ kind, name, count, limit }: Trouble): string {
  const { text, title = text } = t.overview.attention.kinds[kind];
  const several = count === 1 ? 1 : formatNumber(count ?? 0);
  return attentionText(title, { name: name ?? '', count: several, limit: formatNumber(limit ?? 0) });
}

export function placeOf(item: Trouble): string {
  return attentionPage(item.kind, item);
}
