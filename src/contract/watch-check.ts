/** A check of a watched folder. */
import { Type } from 'typebox';
import { ID, TIME } from './examples.js';
import { count, dateTime, oneOf, text, textOrNull } from './schema.js';
import { type ExampleOf, kept, type RowOf } from './thing.js';
import { DURATION_MS, ERROR_CODE } from './words.js';

export const entryCounts = Type.Unsafe<Readonly<Record<string, number>>>({
  type: 'object',
  additionalProperties: Type.Integer({ minimum: 0 }),
  description: 'Entries of the folder, by reason.',
});

export const checkFields = {
  id: kept(text('Identifier.')),
  kind: kept(oneOf(['regular', 'follow_up', 'manual'], 'Why it ran.')),
  outcome: kept(oneOf(['succeeded', 'failed', 'skipped'], 'How it ended.')),
  startedAt: kept(dateTime('When it began.')),
  durationMs: kept(count(DURATION_MS)),
  errorCode: kept(textOrNull(ERROR_CODE)),
  errorMessage: kept(textOrNull('What went wrong.')),
  counts: kept(entryCounts),
};

export type WatchCheck = RowOf<typeof checkFields>;
export type CheckKind = WatchCheck['kind'];

export const checkExample = {
  id: ID,
  kind: 'regular',
  outcome: 'succeeded',
  startedAt: TIME,
  durationMs: 42,
  errorCode: null,
  errorMessage: null,
  counts: { unchanged: 4 },
} as const satisfies ExampleOf<typeof checkFields>;
