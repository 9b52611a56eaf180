/** A webhook: a receiver that subscribes to types of an account's events. */
import { EVENT_TYPES } from './event.js';
import { WORKING_TYPES } from './transfer.js';
import { TIME, WEBHOOK_ID } from './examples.js';
import { dateTime, dateTimeOrNull, flag, listOf, oneOf, text, texts } from './schema.js';
import { type ExampleOf, given, hidden, kept, needed, type RowOf, type SettingsOf } from './thing.js';

export const webhookFields = {
  id: kept(text('Identifier.')),
  accountId: hidden<string>(),
  /** In a row, without its login. */
  url: needed(
    text('The receiver: an http or https URL. A login in it is kept sealed, and sent as basic authentication.', {
      minLength: 1,
      maxLength: 2048,
    }),
    {
      texts: {
        label: 'URL',
        hint: 'Receives a signed POST for each event. Credentials in the URL are encrypted and never shown again.',
      },
      input: 'url',
      example: 'https://example.com/hooks/gateway',
      option: { flags: '--url <url>', help: 'another receiver' },
      words: 'The receiver, without a login.',
    },
  ),
  events: needed(
    listOf(oneOf(EVENT_TYPES, 'Type of an event.'), 'Types of events that it receives.', {
      minItems: 1,
      maxItems: EVENT_TYPES.length,
      uniqueItems: true,
    }),
    {
      option: { flags: '--event <types...>', help: 'types of its events' },
      docs: 'types of events that it gets',
      texts: { label: 'Events' },
    },
  ),
  operations: given(
    listOf(
      oneOf(WORKING_TYPES, 'An operation.'),
      'Operations whose success it receives as `transfer.succeeded`; empty = all of them.',
      { maxItems: WORKING_TYPES.length, uniqueItems: true },
    ),
    {
      option: { flags: '--operation <types...>', help: 'operations whose success is sent as transfer.succeeded' },
      docs: 'for `transfer.succeeded`: only these operations; empty = all that move or change something',
      texts: { label: 'Only the success of these operations', hint: 'None selected: all of them.' },
      default: [],
    },
  ),
  format: given(oneOf(['standard', 'cloudevents'], '`cloudevents` = CloudEvents 1.0 in JSON, in structured mode.'), {
    option: { flags: '--body <format>', help: 'standard or cloudevents' },
    docs: '[`cloudevents`](#receive-cloudevents) = CloudEvents 1.0',
    texts: {
      label: 'Format',
      choices: { standard: 'Standard Webhooks', cloudevents: 'CloudEvents 1.0' },
    },
    default: 'standard',
  }),
  connections: given(
    texts(
      'Only events that are about no other connections; empty = all.',
      { maxItems: 1000 },
      { minLength: 1, maxLength: 64 },
    ),
    {
      texts: { label: 'Only for these connections', hint: 'None selected: all, including new ones.' },
      option: { flags: '--connection <ids...>', help: 'only events about these connections' },
      default: [],
      column: 'connectionIds',
    },
  ),
  isActive: given(flag('Whether it receives new events.'), {
    docs: 'whether it gets new events',
    texts: { label: 'Active' },
    default: true,
  }),
  endedAt: kept(dateTimeOrNull('When the receiver answered 410, which switched it off; null = it has not.')),
  createdAt: kept(dateTime('When it was created.')),
};

export type Webhook = RowOf<typeof webhookFields>;
export type WebhookSettings = SettingsOf<typeof webhookFields>;

export const webhookExample = {
  id: WEBHOOK_ID,
  events: ['transfer.failed', 'connection.down', 'connection.up'],
  createdAt: TIME,
} as const satisfies ExampleOf<typeof webhookFields>;
