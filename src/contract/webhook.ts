/** A webhook: a receiver that an account subscribes to types of its events. */
import { EVENT_TYPES } from './event-types.js';
import { dateTime, dateTimeOrNull, flag, listOf, oneOf, text, texts } from './schema.js';
import { given, hidden, kept, needed, type RowOf, type SettingsOf } from './thing.js';

export const webhookFields = {
  id: kept(text('Identifier.')),
  accountId: hidden<string>(),
  /** Without its login in a row. */
  url: needed(
    text('The receiver: an http or https URL. A login in it is kept sealed, and sent as basic authentication.', {
      minLength: 1,
      maxLength: 2048,
    }),
    {
      option: { flags: '--url <url>', help: 'another receiver' },
      words: 'The receiver, without a login.',
    },
  ),
  events: needed(
    listOf(oneOf(EVENT_TYPES, 'Type of an event.'), 'Types of events that it is told.', {
      minItems: 1,
      maxItems: EVENT_TYPES.length,
      uniqueItems: true,
    }),
    {
      option: { flags: '--event <types...>', help: 'types of its events' },
      docs: 'types of events that it gets',
    },
  ),
  connections: given(
    texts(
      'Only events that are about no other connections; empty = all.',
      { maxItems: 1000 },
      { minLength: 1, maxLength: 64 },
    ),
    {
      option: { flags: '--connection <ids...>', help: 'only events about these connections' },
      default: [],
      column: 'connectionIds',
    },
  ),
  isActive: given(flag('Whether it is told of new events.'), { default: true, docs: 'whether it gets new events' }),
  endedAt: kept(dateTimeOrNull('When the receiver answered 410, which switched it off; null = it has not.')),
  createdAt: kept(dateTime('When it was created.')),
};

export type Webhook = RowOf<typeof webhookFields>;
export type WebhookSettings = SettingsOf<typeof webhookFields>;
