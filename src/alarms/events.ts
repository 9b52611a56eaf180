/** The events of the feed about what needs a person. */
import { idsOf, itemOf, wordsOf } from '../attention/items.js';
import { ATTENTION_KINDS, type AttentionItem } from '../contract/attention.js';
import { type EventDefinition, eventDefinition } from '../base/events.js';
import { dateTime, group, oneOf, text } from '../contract/schema.js';
import { Type } from 'typebox';
import type { Alarm, AlarmEvent } from '../storage/storage.js';

const fields = {
  kind: oneOf(ATTENTION_KINDS, 'What it is about.'),
  text: text('In words.'),
  since: dateTime('When it was found first.'),
  connectionId: Type.Optional(text('The connection, where it is about one.')),
  watchedFolderId: Type.Optional(text('The watched folder, where it is about one.')),
  scheduleId: Type.Optional(text('The schedule, where it is about one.')),
  apiKeyId: Type.Optional(text('The API key, where it is about one.')),
};
const example = {
  kind: 'connection_failing',
  text: 'Connection "Warehouse" fails: login refused',
  since: '2026-01-31T12:00:00.000Z',
  connectionId: 'warehouse',
};
const ABOUT = 'What needs attention.';

export const ATTENTION_EVENTS: readonly EventDefinition[] = [
  eventDefinition(
    'attention.raised',
    'AttentionRaisedEvent',
    { operationId: 'attentionRaised', summary: 'Something needs attention' },
    group(fields, ABOUT),
    example,
  ),
  eventDefinition(
    'attention.cleared',
    'AttentionClearedEvent',
    { operationId: 'attentionCleared', summary: 'It no longer needs attention' },
    group({ ...fields, endedAt: dateTime('When it was found to be over.') }, ABOUT),
    { ...example, endedAt: '2026-01-31T12:31:00.000Z' },
    '2026-01-31T12:31:00.000Z',
  ),
];

/** No connection has this id: only callers who may see all connections get what concerns none. */
const WHOLE_ACCOUNT = '*';

export function attentionEvent({ item: json, since, endedAt }: Alarm): AlarmEvent {
  const item: AttentionItem = itemOf(json);
  const type = endedAt === null ? 'attention.raised' : 'attention.cleared';
  const data = {
    ...{ kind: item.kind, text: wordsOf(item), since },
    ...idsOf(item),
    ...(endedAt === null ? {} : { endedAt }),
  };
  return {
    type,
    body: JSON.stringify({ type, timestamp: (endedAt ?? since).toISOString(), data }),
    connectionIds: [idsOf(item).connectionId ?? WHOLE_ACCOUNT],
  };
}
