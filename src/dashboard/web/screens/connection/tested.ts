/** What tests have found, kept while the page is open: a saved connection shows what was found before it was saved. */
import { useSyncExternalStore } from 'react';
import { request, segment } from '../../api/client.ts';
import { refresh } from '../../api/hooks.ts';
import type { TestResult } from '../../api/types.ts';
import type { Draft } from '../../ui/draft.ts';

interface Tested {
  readonly result: TestResult;
  /** What was tested; undefined = what is saved. */
  readonly draft: Draft | undefined;
}

/** In the place of the id of one that is not saved yet. */
export const UNSAVED = '';
const known = new Map<string, Tested>();
const listeners = new Set<() => void>();

export function noteTest(id: string, tested: Tested | undefined): void {
  if (tested === undefined) known.delete(id);
  else known.set(id, tested);
  for (const listener of listeners) listener();
}

export function useTested(id: string): Tested | undefined {
  return useSyncExternalStore(subscribe, () => known.get(id));
}

/** What was found before it was saved stays in sight; where all went well, the gateway is to know it too. */
export function keepOfSaved(id: string, draft: Draft, from = UNSAVED): void {
  const result = keepTest(from, id, draft);
  if (result?.isOk !== true) return;
  const path = `/manage/connections/${segment(id)}/test`;
  void request('POST', path, { probe: false }).then(
    () => refresh('/manage/connections'),
    () => undefined,
  );
}

/** The draft that was tested under `from` has been saved as `id`: its result is that of the connection, if nothing was changed since. */
function keepTest(from: string, id: string, saved: Draft): TestResult | undefined {
  const tested = known.get(from);
  known.delete(from);
  const isOfSaved = tested?.draft !== undefined && isSameServer(tested.draft, saved);
  noteTest(id, isOfSaved ? { result: tested.result, draft: undefined } : undefined);
  return isOfSaved ? tested.result : undefined;
}

/** But for what people call it. */
export function isSameServer(one: Draft, other: Draft): boolean {
  const words = ({ name: _name, id: _id, ...rest }: Draft): string =>
    JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
  return words(one) === words(other);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
