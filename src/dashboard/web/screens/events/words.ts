/** Events in words. */
import type { FeedEvent } from '../../api/types.ts';
import { formatDuration, formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { STATES, TYPES } from '../jobs/words.ts';

/** The subject of an event, a link to its screen, and a description. */
interface EventWords {
  readonly name: string;
  readonly href: string;
  readonly text: string;
}

/** Undefined for a type that this page does not know. */
export function wordsOf(event: FeedEvent): EventWords | undefined {
  switch (event.type) {
    case 'transfer.failed': {
      const { id, type, path, errorMessage } = event.data.transfer;
      return { name: `${type} ${path}`, href: `/transfers/${id}`, text: errorMessage ?? '' };
    }
    case 'connection.down':
      return { ...connectionOf(event.data), text: event.data.error };
    case 'connection.up':
      return { ...connectionOf(event.data), text: t.events.wasAway(formatDuration(event.data.downSeconds * 1_000)) };
    case 'attention.raised':
    case 'attention.cleared':
      return { name: event.data.text, href: '/', text: '' };
    case 'job.finished': {
      const { id, name, type, state } = event.data.job;
      return { name: name ?? TYPES[type], href: `/jobs/${id}`, text: STATES[state][0] };
    }
    case 'watched_folder.files_detected': {
      const { files } = event.data;
      return { ...folderOf(event.data), text: t.words.fileCount(files.length, formatNumber(files.length)) };
    }
    case 'watched_folder.late':
    case 'watched_folder.files_missing':
      return { ...folderOf(event.data), text: t.events.noFile(formatNumber(event.data.expectEveryMinutes)) };
    case 'watched_folder.test':
      return { ...folderOf(event.data), text: t.events.aTry };
    default:
      return undefined;
  }
}

function connectionOf({
  connection: { id, name },
}: {
  readonly connection: { readonly id: string; readonly name: string };
}) {
  return { name, href: `/connections/${encodeURIComponent(id)}` };
}

function folderOf({
  watchedFolder: { id, name },
}: {
  readonly watchedFolder: { readonly id: string; readonly name: string };
}) {
  return { name, href: `/watched/${id}` };
}
