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
  aTry: 'a try',
};
