/** The clock of the database, as the look for due schedules sees it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScheduleService, type ScheduleServiceOptions } from '../../src/jobs/schedules.js';
import { eventually } from '../support/eventually.js';

test('times are reckoned anew at the start, and whenever the clock has come back', async () => {
  let [aheadMs, looks, recalls] = [0, 0, 0];
  let fails = false;
  const rows: Partial<ScheduleServiceOptions['rows']> = {
    fireNext: () => ((looks += 1), Promise.resolve({ now: new Date(Date.now() + aheadMs), fired: undefined })),
    recallEarly: () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(++recalls)),
  };
  const schedules = new ScheduleService({ rows, wake: () => undefined, log: () => undefined } as never);
  const nextLook = async (): Promise<void> => {
    const seen = looks;
    await eventually(() => looks > seen + 1, 'it looks again');
  };
  schedules.start();
  await nextLook();
  assert.equal(recalls, 1, 'at the start');
  aheadMs = 3_600_000;
  await nextLook();
  assert.equal(recalls, 1, 'ahead: what is due begins, and that is all');
  fails = true;
  aheadMs = 0;
  await nextLook();
  fails = false;
  await eventually(() => recalls === 2, 'back: again, until it has been done');
  await nextLook();
  assert.equal(recalls, 2);
  await schedules.stop();
});
