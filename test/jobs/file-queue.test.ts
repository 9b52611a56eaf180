import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileQueue } from '../../src/jobs/file-queue.js';
import type { JobFile } from '../../src/storage/storage.js';

const always = (): boolean => true;

/** A table of waiting files; a claim returns them until they are removed. */
function table(count: number): { rows: JobFile[]; claims: number[]; claim: (limit: number) => Promise<JobFile[]> } {
  const rows = Array.from({ length: count }, (_, index): JobFile => {
    const path = Buffer.from(`file-${index}`);
    return { path, action: 'copy', size: 1, modifiedMs: 0, isCopied: false, wasTaken: false, tries: 0 };
  });
  const claims: number[] = [];
  const claim = async (limit: number): Promise<JobFile[]> => {
    claims.push(limit);
    return rows.slice(0, limit);
  };
  return { rows, claims, claim };
}

test('every file is returned once, although each claim finds claimed ones again', async () => {
  const { rows, claims, claim } = table(450);
  const queue = new FileQueue(claim);
  const seen: string[] = [];
  const worker = async (): Promise<void> => {
    for (;;) {
      const file = await queue.next(always);
      if (file === undefined) return;
      seen.push(file.path.toString());
      await new Promise(setImmediate);
      rows.splice(rows.indexOf(file), 1);
      queue.done(file);
    }
  };
  await Promise.all(Array.from({ length: 5 }, worker));
  assert.equal(seen.length, 450);
  assert.equal(new Set(seen).size, 450);
  assert.ok(queue.isEmpty);
  assert.ok(claims.length < 10, `${claims.length} claims`);
});

test('a file that ends during a claim is not done twice', async () => {
  const { rows, claim } = table(3);
  let answer = (): void => undefined;
  let times = 0;
  const queue = new FileQueue(async (limit) => {
    const found = await claim(limit);
    times += 1;
    if (times > 1) await new Promise<void>((resolve) => (answer = resolve));
    return found;
  });
  await queue.refill();
  const first = (await queue.next(always)) as JobFile;
  // The claim has been sent and has seen the file; only then it ends.
  await new Promise(setImmediate);
  rows.shift();
  queue.done(first);
  answer();
  const rest: string[] = [];
  for (let file; (file = await queue.next(() => false)) !== undefined;) rest.push(file.path.toString());
  assert.deepEqual(rest, ['file-1', 'file-2']);
});

test('nothing more is claimed when no more is wanted, and a failure is reported', async () => {
  const { claims, claim } = table(2);
  const queue = new FileQueue(claim);
  await queue.refill();
  assert.ok(await queue.next(() => false));
  assert.ok(await queue.next(() => false));
  assert.equal(await queue.next(() => false), undefined);
  assert.equal(claims.length, 1);
  const broken = new FileQueue(() => Promise.reject(new Error('away')));
  await assert.rejects(broken.next(always), /away/);
});
