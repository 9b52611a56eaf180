/** A slice that ends before its files: its job is cancelled, its node stops, or the hours of a connection have ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, GatewayError } from '../../src/base/errors.js';
import { FileSlices, type SliceEnd } from '../../src/jobs/file-slices.js';
import type { JobPlaces } from '../../src/jobs/file-work.js';
import { DAY_MS } from '../../src/contract/units.js';
import type { JobFile, RunningJob } from '../../src/storage/storage.js';

const FILE = { path: Buffer.from('a'), size: 1, tries: 0, action: 'copy' } as JobFile;
const JOB = { id: 'job', type: 'copy', definition: { bytesPerSecond: 0 } } as RunningJob;

/** The slice's end, and what was recorded of its file. */
async function sliceAbortedBy(code: ErrorCode): Promise<{ readonly end: SliceEnd; readonly recorded: unknown[] }> {
  const ending = new AbortController();
  const recorded: unknown[] = [];
  const slices = new FileSlices({
    tree: {
      claimFiles: async () => [FILE],
      end: async (_job, ends) => void recorded.push(...ends),
      retryFile: async (...about) => void recorded.push(about),
    },
    work: {
      run: async () => {
        ending.abort(new GatewayError(code, 'it ends'));
        throw new GatewayError('not_a_folder', '/a is a file, not a folder');
      },
    },
    parallelFiles: 1,
  });
  const { signal } = ending;
  const activeRun = {
    signal,
    leave: () => undefined,
    get isWanted() {
      return !signal.aborted;
    },
  };
  const open = { id: 'open' };
  const places = { source: open, target: open } as JobPlaces;
  const end = await slices.run(JOB, { kind: 'job-files', number: 0 }, places, activeRun, async () => places);
  return { end, recorded };
}

test('of a cancelled job: the file stays as it was, and the slice is done', async () => {
  assert.deepEqual(await sliceAbortedBy('cancelled'), { end: { kind: 'done', afterMs: 0 }, recorded: [] });
});

test('of a gateway that stops: the slice is given back with that reason', async () => {
  await assert.rejects(
    sliceAbortedBy('draining'),
    (error) => error instanceof GatewayError && error.code === 'draining',
  );
});

test('of a connection whose hours have ended: no further file begins, and the slice is given back', async () => {
  const away = ['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa'][new Date(Date.now() + 3 * DAY_MS).getUTCDay()];
  const [open, closed] = [{ id: 'open' }, { id: 'closed', hours: `${away} 12:00-12:01 UTC` }];
  for (const places of [
    { source: closed, target: open },
    { source: open, target: closed },
  ] as JobPlaces[]) {
    const begun: string[] = [];
    const slices = new FileSlices({
      tree: {
        claimFiles: async () => ['a', 'b', 'c'].map((name) => ({ ...FILE, path: Buffer.from(name) })),
        end: async () => undefined,
        retryFile: async () => undefined,
      },
      work: { run: async ({ file }) => void begun.push(file.path.toString()) },
      parallelFiles: 1,
    });
    const activeRun = { signal: new AbortController().signal, leave: () => undefined, isWanted: true };
    await assert.rejects(
      slices.run(JOB, { kind: 'job-files', number: 0 }, places, activeRun, async () => places),
      (error) => error instanceof GatewayError && error.code === 'outside_hours',
    );
    assert.deepEqual(begun, ['a']);
  }
});
