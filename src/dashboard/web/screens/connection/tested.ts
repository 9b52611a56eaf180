/** Test results, kept while the page is open. A saved connection shows the test from before it was saved. */
import { request, segment } from '../../api/client.ts';
import { refresh } from '../../api/hooks.ts';
import type { TestResult } from '../../api/types.ts';
import { store } from '../../store.ts';
import type { Draft } from '../../ui/draft.ts';

interface Tested {
  readonly result: TestResult;
  /** The tested input; undefined = the stored connection. */
  readonly draft: Draft | undefined;
}

/** Replaces the id of a connection that is not saved yet. */
export const UNSAVED = '';
const known = store<Readonly<Record<string, Tested | undefined>>>({});

export function noteTest(id: string, tested: Tested | undefined): void {
  known.set({ ...known.get(), [id]: tested });
}

export function useTested(id: string): Tested | undefined {
  return known.use()[id];
}

/** Keeps the test from before the save on screen. If it succeeded, the gateway tests again to record the result. */
export function keepOfSaved(id: string, draft: Draft, from = UNSAVED): void {
  const result = keepTest(from, id, draft);
  if (result?.isOk !== true) return;
  const path = `/manage/connections/${segment(id)}/test` as const;
  void request('POST', path, { probe: false }).then(
    () => refresh('/manage/connections'),
    () => undefined,
  );
}

/** Moves the result of `from` to the saved connection `id` if the tested input equals the saved one. */
function keepTest(from: string, id: string, saved: Draft): TestResult | undefined {
  const { [from]: tested } = known.get();
  noteTest(from, undefined);
  const isOfSaved = tested?.draft !== undefined && isSameServer(tested.draft, saved);
  noteTest(id, isOfSaved ? { result: tested.result, draft: undefined } : undefined);
  return isOfSaved ? tested.result : undefined;
}

/** Compares all fields except the name. */
export function isSameServer(one: Draft, other: Draft): boolean {
  const words = ({ name: _name, id: _id, ...rest }: Draft): string =>
    JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
  return words(one) === words(other);
}
