import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { FileState, StoredEntry } from '../../src/storage/storage.js';
import { decide, type DiffRules, isReport, type Reason } from '../../src/watch/decide.js';
import { diff } from '../../src/watch/diff.js';
import { isSameState } from '../../src/watch/same-state.js';
import { EntrySorter } from '../../src/base/entry-sorter.js';
import { zoneShift } from '../../src/watch/zone-shift.js';

const SETTLE_MS = 5000;
const HOUR_MS = 3_600_000;

function rulesAt(beganMs: number, changes: Partial<DiffRules> = {}): DiffRules {
  return {
    isBaseline: false,
    detectModified: false,
    settleMs: SETTLE_MS,
    resolutionMs: 1,
    beganMs,
    endedMs: beganMs,
    mayReportEmpty: true,
    maxReports: Infinity,
    filter: () => undefined,
    hasMarker: () => true,
    ...changes,
  };
}

/** The stored entries, in memory. */
class Store {
  readonly entries = new Map<string, StoredEntry>();

  async *pages(): AsyncGenerator<readonly StoredEntry[]> {
    const all = [...this.entries.values()].sort((a, b) => a.key.compare(b.key));
    for (let at = 0; at < all.length; at += 3) yield all.slice(at, at + 3);
  }

  /** One check; reasons by path. */
  async check(files: ReadonlyMap<string, FileState>, rules: DiffRules): Promise<Map<string, Reason | 'gone'>> {
    const sorter = new EntrySorter();
    for (const [path, state] of files) await sorter.add({ key: Buffer.from(path), ...state });
    const reasons = new Map<string, Reason | 'gone'>();
    for await (const batch of diff(sorter.batches(), this.pages(), rules)) {
      for (const { key, reason, change } of batch) {
        assert.ok(!reasons.has(key.toString()), 'one reason for each entry');
        reasons.set(key.toString(), reason);
        if (change === undefined) continue;
        if (change.known === undefined && change.seen === undefined) this.entries.delete(key.toString());
        else this.entries.set(key.toString(), change);
      }
    }
    await sorter.close();
    return reasons;
  }
}

interface Look {
  readonly beganMs: number;
  readonly endedMs: number;
  readonly isRegular: boolean;
  /** undefined = there is no file. */
  readonly state: FileState | undefined;
}

/** The expected result by brute force: each check reads the whole history of a path. */
class Model {
  readonly #detectModified: boolean;
  readonly #looks: Look[] = [];
  #known: FileState | undefined;
  #wasWaiting = false;

  constructor(detectModified: boolean) {
    this.#detectModified = detectModified;
  }

  look(look: Look, isBaseline: boolean): Reason | 'gone' | undefined {
    const before = this.#looks.at(-1);
    this.#looks.push(look);
    const reason = this.#reasonFor(look, before, isBaseline);
    this.#wasWaiting = reason === 'settling' || reason === 'growing' || reason === 'empty';
    if (look.state === undefined) this.#known = undefined;
    else if (!this.#wasWaiting) this.#known = look.state;
    return reason;
  }

  #reasonFor(
    { state, beganMs, isRegular }: Look,
    before: Look | undefined,
    isBaseline: boolean,
  ): Reason | 'gone' | undefined {
    if (state === undefined) return before?.state === undefined ? undefined : 'gone';
    if (isBaseline) return 'baseline';
    if (this.#known !== undefined && equal(this.#known, state)) return 'unchanged';
    if (this.#known !== undefined && !this.#detectModified) return 'modification_ignored';
    // The first of the consecutive scans that saw exactly this state.
    let first = this.#looks.length - 1;
    while (first > 0 && equal(this.#looks[first - 1]?.state, state)) first -= 1;
    if (first === this.#looks.length - 1 && this.#wasWaiting) return 'growing';
    const isFirst = first === this.#looks.length - 1;
    if (state.size === 0 && this.#known === undefined && (isFirst || !isRegular)) return 'empty';
    if (isFirst || beganMs - (this.#looks[first]?.endedMs ?? 0) < SETTLE_MS) return 'settling';
    return this.#known === undefined ? 'new' : 'modified';
  }
}

function equal(a: FileState | undefined, b: FileState | undefined): boolean {
  return a?.size === b?.size && a?.modifiedMs === b?.modifiedMs;
}

const NAMES = ['a', 'b/c', 'ä'];
const name = fc.constantFrom(...NAMES);
type Step =
  | { readonly kind: 'put' | 'grow' | 'replace' | 'touch' | 'delete' | 'back' | 'swap'; readonly name: string }
  | { readonly kind: 'rename'; readonly name: string; readonly to: string }
  | { readonly kind: 'check'; readonly waitMs: number; readonly isRegular: boolean }
  | { readonly kind: 'clock'; readonly byMs: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('put', 'grow', 'replace', 'touch', 'delete', 'back', 'swap'), name }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename'), name, to: name }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('check'),
      waitMs: fc.constantFrom(1, 2000, SETTLE_MS, 60_000),
      isRegular: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('clock'), byMs: fc.integer({ min: -7_200_000, max: 7_200_000 }) }),
  },
);

test('random histories of a folder: the same reports and reasons as a brute-force model', async () => {
  let reports = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 120, size: 'max' }), fc.boolean(), async (steps, detectModified) => {
      const files = new Map<string, FileState>();
      const trash = new Map<string, FileState>();
      const store = new Store();
      const models = new Map(NAMES.map((each) => [each, new Model(detectModified)]));
      let ours = 1_700_000_000_000;
      // The server's own clock, which is set at random.
      let theirs = 1_500_000_000_000;
      let checks = 0;
      for (const each of steps) {
        theirs += 10;
        if (each.kind === 'clock') theirs += each.byMs;
        else if (each.kind !== 'check') change(files, trash, each, theirs);
        else {
          ours += each.waitMs;
          const look = { beganMs: ours, endedMs: (ours += 3), isRegular: each.isRegular };
          const isBaseline = checks++ === 0;
          const rules = rulesAt(look.beganMs, {
            endedMs: look.endedMs,
            isBaseline,
            detectModified,
            mayReportEmpty: each.isRegular,
          });
          const found = await store.check(files, rules);
          for (const [path, model] of models) {
            const expected = model.look({ ...look, state: files.get(path) }, isBaseline);
            assert.equal(found.get(path), expected, `${path} at check ${checks}`);
            if (expected === 'new' || expected === 'modified') reports += 1;
          }
        }
      }
    }),
    { numRuns: 1000 },
  );
  assert.ok(reports > 500, `the histories came to ${reports} reports only`);
});

function change(files: Map<string, FileState>, trash: Map<string, FileState>, at: Step, modifiedMs: number): void {
  if (at.kind === 'check' || at.kind === 'clock') return;
  const state = files.get(at.name);
  if (at.kind === 'put') files.set(at.name, { size: 0, modifiedMs });
  else if (at.kind === 'back') files.set(at.name, trash.get(at.name) ?? { size: 7, modifiedMs });
  else if (state === undefined) return;
  else if (at.kind === 'swap') {
    files.set(at.name, trash.get(at.name) ?? state);
    trash.set(at.name, state);
  } else if (at.kind === 'grow') files.set(at.name, { size: state.size + 5, modifiedMs });
  else if (at.kind === 'replace' || at.kind === 'touch') files.set(at.name, { size: state.size, modifiedMs });
  else {
    files.delete(at.name);
    if (at.kind === 'rename') files.set(at.to, state);
    else trash.set(at.name, state);
  }
}

suite('decisions of a scan', () => {
  const entry = (size: number, modifiedMs = 1000) => ({ key: Buffer.from('f'), size, modifiedMs });
  const seen = (size: number, sinceMs: number, modifiedMs = 1000): StoredEntry => ({
    key: Buffer.from('f'),
    known: undefined,
    seen: { size, modifiedMs, sinceMs },
  });

  test('a file is reported when it has kept size and date for the settling time, to the millisecond', () => {
    assert.equal(decide(entry(4), undefined, rulesAt(0)).reason, 'settling');
    assert.equal(decide(entry(4), seen(4, 0), rulesAt(SETTLE_MS - 1)).reason, 'settling');
    assert.equal(decide(entry(4), seen(4, 0), rulesAt(SETTLE_MS)).reason, 'new');
  });

  test('setting our clock back neither settles a file nor makes it wait for long', () => {
    const late = decide(entry(4), seen(4, 1_000_000), rulesAt(500));
    assert.equal(late.reason, 'settling');
    assert.deepEqual(late.change?.seen, { size: 4, modifiedMs: 1000, sinceMs: 500 });
  });

  test('a file without its marker waits, and is reported as soon as the marker exists', () => {
    let isThere = false;
    const rules = (at: number) => rulesAt(at, { hasMarker: () => isThere });
    assert.equal(decide(entry(4), seen(4, 0), rules(SETTLE_MS)).reason, 'waiting_for_marker');
    isThere = true;
    assert.equal(decide(entry(4), seen(4, 0), rules(SETTLE_MS)).reason, 'new');
  });

  test('a filtered entry keeps its stored state', () => {
    const decision = decide(entry(9), seen(4, 0), rulesAt(9e9, { filter: () => 'pattern' }));
    assert.equal(decision.reason, 'pattern');
    assert.equal(decision.change, undefined);
  });

  test('reports beyond the limit wait for the next check', async () => {
    const store = new Store();
    const files = new Map(Array.from({ length: 10 }, (_, index) => [`f${index}`, { size: 1, modifiedMs: 1 }]));
    await store.check(files, rulesAt(0, { maxReports: 4 }));
    const reported: string[] = [];
    for (const at of [1, 2, 3]) {
      const reasons = await store.check(files, rulesAt(at * 10_000, { maxReports: 4 }));
      const now = [...reasons].filter(([, reason]) => isReport(reason)).map(([path]) => path);
      assert.equal(now.length, at < 3 ? 4 : 2);
      reported.push(...now);
    }
    assert.deepEqual(reported.sort(), [...files.keys()]);
  });
});

suite('times of servers that show only minutes', () => {
  const day = 86_400_000;
  const now = Date.UTC(2026, 6, 1);
  const coarse = { resolutionMs: 60_000, endedMs: now };
  const at = (modifiedMs: number): FileState => ({ size: 1, modifiedMs });

  test('seconds from another command are the same time', () => {
    assert.ok(isSameState(at(now - 60_000), at(now - 60_000 + 42_000), coarse));
    assert.ok(!isSameState(at(now - 60_000), at(now), coarse));
    assert.ok(!isSameState(at(now - 60_000), at(now - 59_000), { ...coarse, resolutionMs: 1000 }));
  });

  test('an hour is the same time only if the whole listing has shifted by it', () => {
    const [before, later] = [at(now - 10 * day), at(now - 10 * day + HOUR_MS)];
    assert.ok(!isSameState(before, later, coarse));
    assert.ok(isSameState(before, later, { ...coarse, zoneShiftMs: HOUR_MS }));
    assert.ok(!isSameState(later, before, { ...coarse, zoneShiftMs: HOUR_MS }));
    assert.ok(!isSameState(before, before, { ...coarse, zoneShiftMs: HOUR_MS }));
    assert.ok(!isSameState(before, { ...later, size: 2 }, { ...coarse, zoneShiftMs: HOUR_MS }));
  });

  test('the epoch is no time: a server without times modifies nothing', () => {
    for (const rules of [coarse, { ...coarse, resolutionMs: 1000 }]) {
      assert.ok(isSameState(at(now - day), at(0), rules));
      assert.ok(isSameState(at(0), at(now - day), rules));
      assert.ok(!isSameState(at(0), { size: 2, modifiedMs: 0 }, rules));
    }
  });

  test('a file whose time of day disappears with age stays the same', () => {
    const written = now - 183 * day + 15 * 3_600_000;
    assert.ok(isSameState(at(written), at(Math.floor(written / day) * day), coarse));
    assert.ok(!isSameState(at(now - 20 * day + 15 * 3_600_000), at(now - 20 * day), coarse));
  });
});

suite('a shift of the server’s time zone', () => {
  const now = Date.UTC(2026, 6, 1);
  const MINUTE_MS = 60_000;
  /** Files of the past weeks, over more hours than the largest shift of a zone. */
  const listing = fc
    .array(fc.integer({ min: 0, max: 30_000 }), { minLength: 2, maxLength: 40 })
    .map(
      (ages) =>
        new Map([30 * 60, ...ages].map((age, index) => [`f${index}`, { size: 1, modifiedMs: now - age * MINUTE_MS }])),
    )
    .filter((files) => [...files.values()].some(({ modifiedMs }) => modifiedMs > now - 2 * 60 * MINUTE_MS));
  const shifted = (files: ReadonlyMap<string, FileState>, hours: number, except: readonly string[] = []) =>
    new Map(
      [...files].map(([path, { size, modifiedMs }]) => [
        path,
        { size, modifiedMs: modifiedMs + (except.includes(path) ? 0 : hours * HOUR_MS) },
      ]),
    );
  const baseline = async (files: ReadonlyMap<string, FileState>): Promise<Store> => {
    const store = new Store();
    await store.check(files, rulesAt(now, { isBaseline: true }));
    return store;
  };
  const shiftOf = async (store: Store, files: ReadonlyMap<string, FileState>): Promise<number> => {
    const sorter = new EntrySorter();
    for (const [path, state] of files) await sorter.add({ key: Buffer.from(path), ...state });
    return zoneShift(sorter.batches(), store.pages(), now);
  };
  const hours = fc.constantFrom(-2, -1, 1, 2);

  test('a shift of the whole listing modifies nothing, and the shifted times are known afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(listing, hours, async (files, by) => {
        const store = await baseline(files);
        const later = shifted(files, by);
        const zoneShiftMs = await shiftOf(store, later);
        assert.equal(zoneShiftMs, by * HOUR_MS);
        const rules = { resolutionMs: MINUTE_MS, detectModified: true, zoneShiftMs };
        assert.deepEqual(new Set((await store.check(later, rulesAt(now, rules))).values()), new Set(['unchanged']));
        assert.equal(await shiftOf(store, later), 0);
      }),
      { numRuns: 100 },
    );
  });

  test('a shift of all files but one is none: each of them was rewritten', async () => {
    await fc.assert(
      fc.asyncProperty(listing, hours, fc.nat(), async (files, by, pick) => {
        const store = await baseline(files);
        const still = `f${pick % files.size}`;
        assert.equal(await shiftOf(store, shifted(files, by, [still])), 0);
      }),
      { numRuns: 100 },
    );
  });

  test('a shift is not derived from one file, nor from files that may all have been rewritten an hour later', async () => {
    const at = (...minutesAgo: readonly number[]) =>
      new Map(minutesAgo.map((age, index) => [`f${index}`, { size: 1, modifiedMs: now - age * MINUTE_MS }]));
    assert.equal(await shiftOf(await baseline(at(600)), at(540)), 0);
    assert.equal(await shiftOf(await baseline(at(70, 65)), at(10, 5)), 0);
    assert.equal(await shiftOf(await baseline(at(300, 65)), at(240, 5)), HOUR_MS);
  });

  test('a shift is detected beside files that are new, gone or larger', async () => {
    const state = (minutesAgo: number, size = 1) => ({ size, modifiedMs: now - minutesAgo * MINUTE_MS });
    const before = new Map([
      ['a', state(900)],
      ['gone', state(800)],
      ['grown', state(700)],
      ['z', state(100)],
    ]);
    const later = new Map([
      ['a', state(840)],
      ['grown', state(1, 2)],
      ['new', state(2)],
      ['z', state(40)],
    ]);
    assert.equal(await shiftOf(await baseline(before), later), HOUR_MS);
  });
});
