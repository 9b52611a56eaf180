/** The soak's own verdicts, and a short run of all of it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { againstWarm, drawCourse, type MemorySample } from '../../bench/report/course.js';
import { isFlat } from '../../bench/report/flatness.js';
import type { SoakReport } from '../../bench/soak.js';
import { held } from '../support/reliability.js';
import { PATIENCE_MS } from '../support/eventually.js';

const SOAK = fileURLToPath(new URL('../../bench/soak.js', import.meta.url));
const run = promisify(execFile);

test('a course is flat if its last third is no higher than its middle one, except for the slack', () => {
  const slack = { ratio: 1.1, floor: 2 };
  assert.equal(isFlat([1, 9, 50, 50, 50, 51, 50, 49, 50], slack).flat, true);
  assert.equal(isFlat([1, 9, 50, 50, 50, 51, 60, 70, 80], slack).flat, false);
  assert.equal(isFlat([0, 0, 0, 1, 0, 0, 2, 2, 1], slack).flat, true);
  // One outlier is no trend.
  assert.equal(isFlat([50, 50, 50, 50, 50, 50, 50, 500, 50], slack).flat, true);
});

test('memory is compared with minute ten, and drawn', () => {
  const course = (memoryAt: (minute: number) => number): MemorySample[] =>
    Array.from({ length: 60 }, (_, minute) => ({ atSeconds: minute * 60, memoryMiB: memoryAt(minute), heapMiB: 50 }));
  // It warms up, and then stays; one outlier is no trend.
  const good = course((minute) => (minute < 9 ? 140 + minute * 5 : minute === 57 ? 400 : 190));
  assert.deepEqual(againstWarm(good), { flat: true, from: 190, to: 190 });
  assert.equal(againstWarm(course((minute) => 150 + minute * 2))?.flat, false);
  assert.equal(againstWarm(good.slice(0, 15)), undefined);
  const picture = drawCourse('<Memory>', good);
  assert.match(picture, /^<svg [^]*&#60;Memory&#62;[^]*<\/svg>\n$/);
  assert.equal(picture.match(/<polyline /g)?.length, 2);
});

test('a short soak: nothing fails, nothing grows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'soak-test-'));
  const file = join(folder, 'report.json');
  const picture = join(folder, 'report.svg');
  const { stdout } = await run(
    process.execPath,
    [SOAK, '--minutes', '0.2', '--rate', '20', '--json', file, '--picture', picture],
    {
      timeout: PATIENCE_MS,
    },
  );
  const report = JSON.parse(readFileSync(file, 'utf8')) as SoakReport;
  assert.match(readFileSync(picture, 'utf8'), /^<svg /);
  rmSync(folder, { recursive: true });
  assert.deepEqual(report.failures, []);
  assert.ok(report.requests > 120, stdout);
  assert.ok(report.samples.length > 8, stdout);
  assert.ok(report.samples.some(({ sessions }) => sessions > 0));
  assert.ok(report.atRestBefore.timers > 0 && report.atRestBefore.descriptors > 10);
  assert.equal(report.atRestAfter.leases, 0);
  assert.ok(
    Object.keys(report.verdicts).every((what) => what.endsWith(' at rest')),
    'seconds have no course',
  );
  held({
    area: 'Faults',
    what: 'soak: mixed load at a steady rate',
    done: 'uploads, downloads, copies, listings and clients that leave, 20 a second on SFTP, FTP and S3; here for seconds, by npm run soak for 15 minutes',
    held: 'nothing fails, no lease stays; the long form judges sessions, descriptors, memory and timers, too',
    tries: 1,
  });
});
