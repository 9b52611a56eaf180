/** Events in words. */
import type { Cause, FeedEvent } from '../../api/types.ts';
import { formatDuration, formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { STATES, TYPES } from '../jobs/words.ts';
import { titleOf } from '../transfers/words.ts';

const { says } = t.events;

/** An event as a sentence: its subject, which is a link to its screen, what happened to it, and the details. */
interface EventWords {
  readonly name: string;
  readonly href: string;
  readonly says: string;
  readonly text: string | Cause;
}

/** Undefined for a type that this page does not know. */
export function wordsOf(event: FeedEvent): EventWords | undefined {
  switch (event.type) {
    case 'transfer.failed': {
      const { id, errorCode: code, errorMessage: text } = event.data.transfer;
      return { name: titleOf(event.data.transfer), href: `/transfers/${id}`, says: says.failed, text: { code, text } };
    }
    case 'connection.down': {
      const { errorCode: code, error: text } = event.data;
      return { ...connectionOf(event.data), says: says.down, text: { code, text } };
    }
    case 'connection.up': {
      const text = t.events.wasAway(formatDuration(event.data.downSeconds * 1_000));
      return { ...connectionOf(event.data), says: says.up, text };
    }
    case 'connection.changed':
      return { ...connectionOf(event.data), says: says.changed, text: '' };
    case 'attention.raised':
    case 'attention.cleared': {
      const { kind, text } = event.data;
      const name = t.overview.attention.kinds[kind].choice;
      return { name, href: '/', says: says[event.type], text: { code: null, text } };
    }
    case 'job.finished': {
      const { id, name, type, state } = event.data.job;
      return { name: name ?? TYPES[type], href: `/jobs/${id}`, says: says.ended, text: STATES[state][0] };
    }
    case 'watched_folder.files_detected':
    case 'watched_folder.files_deleted': {
      const text = t.words.fileCount(event.data.files.length, formatNumber(event.data.files.length));
      return { ...folderOf(event.data), says: says[event.type], text };
    }
    case 'watched_folder.late':
    case 'watched_folder.files_missing': {
      const text = t.events.noFile(formatNumber(event.data.expectEveryMinutes));
      return { ...folderOf(event.data), says: says.late, text };
    }
    case 'watched_folder.test':
      return { ...folderOf(event.data), says: says.test, text: '' };
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
