/** The order of a list: folders first, numbers by value. Long lists are sorted in steps, so that the page stays responsive. */
import { useEffect, useMemo, useState } from 'react';
import { isPlain } from '../../../../base/visible.ts';
import { Turns } from '../../../../base/turns.ts';
import type { FileInfo } from '../../api/types.ts';
import type { Sort } from '../../preferences.ts';

/** Sorting more files takes longer than a frame. */
const AT_ONCE = 2_000;
const RUN = 1_024;

interface Keyed {
  readonly file: FileInfo;
  readonly key: string;
}

type Compare = (a: Keyed, b: Keyed) => number;

/** Keeps the former order until the new one is ready; undefined before the first. */
export function useSorted(files: readonly FileInfo[] | undefined, sort: Sort): readonly FileInfo[] | undefined {
  const isShort = files === undefined || files.length <= AT_ONCE;
  const now = useMemo(
    () => (files !== undefined && isShort ? sortNow(files, sort) : undefined),
    [files, sort, isShort],
  );
  const [later, setLater] = useState<readonly FileInfo[]>();
  useEffect(() => {
    if (files === undefined || isShort) return undefined;
    const abort = new AbortController();
    void sortInTurns(files, sort, abort.signal).then((sorted) => sorted !== undefined && setLater(sorted));
    return () => abort.abort();
  }, [files, sort, isShort]);
  return now ?? later;
}

function sortNow(files: readonly FileInfo[], sort: Sort): readonly FileInfo[] {
  const work = steps(files, sort);
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

async function sortInTurns(
  files: readonly FileInfo[],
  sort: Sort,
  signal: AbortSignal,
): Promise<readonly FileInfo[] | undefined> {
  const work = steps(files, sort);
  const turns = new Turns();
  while (!signal.aborted) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (turns.isOver()) await turns.next();
  }
  return undefined;
}

/** A merge sort in steps. Each step yields to other work. */
function* steps(files: readonly FileInfo[], sort: Sort): Generator<undefined, readonly FileInfo[]> {
  const compare = comparing(sort);
  let runs: Keyed[][] = [];
  for (let from = 0; from < files.length; from += RUN) {
    runs.push(
      files
        .slice(from, from + RUN)
        .map((file) => ({ file, key: naturalKey(file.name) }))
        .sort(compare),
    );
    yield;
  }
  while (runs.length > 1) {
    const longer: Keyed[][] = [];
    for (let at = 0; at < runs.length; at += 2) longer.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = longer;
  }
  return (runs[0] ?? []).map(({ file }) => file);
}

function* merge(left: Keyed[], right: Keyed[], compare: Compare): Generator<undefined, Keyed[]> {
  const merged: Keyed[] = [];
  for (let l = 0, r = 0; l < left.length || r < right.length;) {
    const [a, b] = [left[l], right[r]];
    if (a !== undefined && (b === undefined || compare(a, b) <= 0)) {
      merged.push(a);
      l += 1;
    } else if (b !== undefined) {
      merged.push(b);
      r += 1;
    }
    if (merged.length % RUN === 0) yield;
  }
  return merged;
}

function comparing({ by, isDown }: Sort): Compare {
  const sign = isDown ? -1 : 1;
  return (a, b) => {
    if (a.file.isDirectory !== b.file.isDirectory) return a.file.isDirectory ? -1 : 1;
    if (by === 'size' && a.file.size !== b.file.size) return sign * (a.file.size - b.file.size);
    if (by === 'modifiedAt' && a.file.modifiedAt !== b.file.modifiedAt)
      return a.file.modifiedAt < b.file.modifiedAt ? -sign : sign;
    const order = a.key < b.key ? -1 : a.key > b.key ? 1 : a.file.name < b.file.name ? -1 : 1;
    return by === 'name' ? sign * order : order;
  };
}

/**
 * A key that sorts as plain text in the natural order: without case and accents, and with the length of each number in
 * front of
 * it. A collator needs twenty times as long.
 */
function naturalKey(name: string): string {
  const plain = isPlain(name) ? name : name.normalize('NFD').replace(/\p{M}+/gu, '');
  return plain.toLowerCase().replace(/\d+/g, (digits) => {
    const value = digits.replace(/^0+(?=\d)/, '');
    return `0${String.fromCharCode(0x30 + Math.min(value.length, 0x4000))}${value}`;
  });
}
