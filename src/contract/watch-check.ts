/** A check of a watched folder. */
import { Type } from 'typebox';
import { ID, TIME } from './examples.js';
import { count, dateTime, oneOf, text, textOrNull } from './schema.js';
import { type ExampleOf, kept, type RowOf } from './thing.js';
import { DURATION_MS, ERROR_CODE } from './words.js';

/**
 * Why a check reported an entry, or did not: the text in lists of the dashboard (German: its catalogue), and the meaning
 * on the page of watched folders.
 */
export const CHECK_REASONS = {
  new: { text: 'new: reported', meaning: 'reported by this check' },
  modified: { text: 'changed: reported', meaning: 'reported by this check, because its size or date differs' },
  unchanged: { text: 'known and unchanged', meaning: 'known with this size and date' },
  baseline: { text: 'there before the watch began', meaning: 'existed at the first check' },
  settling: {
    text: 'too new: checked again later',
    meaning: 'first seen with this size and date. They must not change',
  },
  growing: {
    text: 'still growing',
    meaning: 'size or date has changed since the last check. The entry shows both sizes',
  },
  empty: { text: 'empty and new: waits for content', meaning: 'new and empty. It waits for the next regular check' },
  pattern: { text: 'does not match the pattern', meaning: 'its name does not match `filePattern`' },
  excluded: { text: 'excluded', meaning: 'its name matches `excludePattern`' },
  temporary_name: { text: 'a temporary name', meaning: 'its name is that of an unfinished file' },
  marker: { text: 'a marker of another file', meaning: 'it is the `doneFile` of another file' },
  modification_ignored: {
    text: 'changed, but only new files are reported',
    meaning: 'changed, but `detectModified` is off',
  },
  waiting_for_marker: { text: 'waits for its marker', meaning: 'its `doneFile` is missing' },
  over_cap: {
    text: 'left for the next check',
    meaning: 'a check reports at most 10,000 files. The next one, a second later, continues',
  },
  unreadable: {
    text: 'the server lists it in a form that cannot be read',
    meaning:
      'the server lists it, or an entry in its folder, in a form that the gateway cannot parse. Its known state is kept',
  },
  gone: { text: 'gone since the last check', meaning: 'known before, no longer there' },
} as const;
export type CheckReason = keyof typeof CHECK_REASONS;

export const KNOWN_FILE_STATES = ['known', 'waiting', 'changing'] as const;

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
