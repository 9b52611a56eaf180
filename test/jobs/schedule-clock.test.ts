/** The clock of the database, as the timer for due schedules sees it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ScheduleService } from '../../src/jobs/schedules.js';

type ScheduleServiceOptions = ConstructorParameters<typeof ScheduleService>[0];

test('times are computed again at the start, and whenever the clock was set back', async () => {
  let [aheadMs, recalls] = [0, 0];
  let fails = false;
  let [wake, hear] = [(): void => undefined, (_reading: { readonly now: Date }): void => undefined];
  const now = (): Date => new Date(Date.now() + aheadMs);
  const agenda = {
    on: (_topic: string, listener: typeof wake) => ((wake = listener), () => undefined),
    onClock: (listener: typeof hear) => ((hear = listener), () => undefined),
  };
  const rows: Partial<ScheduleServiceOptions['rows']> = {
    fireNext: () => Promise.resolve({ now: now(), fired: undefined }),
    recallEarly: () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(++recalls)),
  };
  const schedules = new ScheduleService({ rows, agenda, wake: () => undefined, log: () => undefined } as never);
  const look = async (by: () => void): Promise<void> => {
    by();
    for (let turns = 0; turns < 5; turns += 1) await turn();
  };
  schedules.start();
  await look(() => undefined);
  assert.equal(recalls, 1, 'at the start');
  // By a check for due schedules, and by the agenda's while there are none.
  for (const by of [() => wake(), () => hear({ now: now() })]) {
    recalls = 0;
    aheadMs = 3_600_000;
    await look(by);
    assert.equal(recalls, 0, 'ahead: what is due begins, and that is all');
    fails = true;
    aheadMs = 0;
    await look(by);
    assert.equal(recalls, 0, 'the database is away');
    fails = false;
    await look(by);
    assert.equal(recalls, 1, 'back: again, until it has been done');
    await look(by);
    assert.equal(recalls, 1);
  }
  await schedules.stop();
});
