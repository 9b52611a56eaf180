/** Downloads several entries or a folder as one archive, which the gateway streams. */
import { segment } from '../../api/client.ts';
import { t } from '../../texts/texts.ts';
import { showToast } from '../../toasts.ts';
import type { Entry } from './queue-types.ts';

/** The gateway's limit. */
const MOST_PATHS = 100;
/** A length that every proxy accepts. */
const LONGEST_URL = 7_500;

/** Shows a message if the selection is too large for one archive. */
export function downloadZip(connectionId: string, entries: readonly Entry[]): void {
  const [first] = entries;
  if (first === undefined) return;
  const parameters = new URLSearchParams(entries.map(({ path }) => ['path', path]));
  parameters.set('format', 'zip');
  const rawName = entries.find((entry) => entry.rawName !== undefined)?.rawName;
  if (rawName !== undefined && entries.length > 1) return showToast(t.queue.zipRawName, 'bad');
  if (rawName !== undefined) parameters.set('rawName', rawName);
  const url = `/api/download/${segment(connectionId)}?${parameters.toString()}` as const;
  if (entries.length > MOST_PATHS || url.length > LONGEST_URL) return showToast(t.queue.zipTooMany(MOST_PATHS), 'bad');
  const link = document.createElement('a');
  link.href = url;
  link.download = entries.length === 1 ? `${first.name}.zip` : '';
  link.click();
}
