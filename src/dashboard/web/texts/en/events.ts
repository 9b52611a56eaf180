import { events as types } from '../../../../contract/derived/event-texts.ts';

/** Events. */
export const events = {
  lead: 'Everything that happened, numbered without gaps. Webhooks receive these events.',
  types,
  type: 'Type',
  showNewer: 'Show newer',
  noneFits: 'No event of this type',
  noneFitsText: 'There is none since the oldest stored event.',
  none: 'No event yet',
  noneText:
    'Failed transfers, finished jobs, servers that go down or come back, and files in watched folders appear here. Webhooks receive them. Programs can follow GET /api/events.',
  number: 'Number',
  openOne: (sequence: number): string => `Open event ${sequence}`,
  one: (sequence: string): string => `Event ${sequence}`,
  previousId: 'Previous id',
  isFirst: 'none: this is the first',
  signed: 'As signed',
  bytes: 'The exact bytes',
  bytesHint: (size: string): string => `${size}, exactly the bytes that webhooks receive.`,
  lines: 'Formatted',
  inLines: 'The formatted event',
  wasAway: (time: string): string => `was down for ${time}`,
  noFile: (minutes: string): string => `no file for ${minutes} minutes`,
  /** The rest of the sentence after the subject. */
  says: {
    failed: 'failed',
    down: 'is down',
    up: 'works again',
    changed: 'shows another identity',
    ended: 'ended',
    'attention.raised': 'needs attention',
    'attention.cleared': 'needs no attention any more',
    'watched_folder.files_detected': 'has new or changed files',
    'watched_folder.files_deleted': 'has lost files',
    late: 'got no file in time',
    test: 'sent a test message',
  },
};
