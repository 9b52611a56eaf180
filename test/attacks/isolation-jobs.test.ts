/**
 * One tenant's jobs, and another tenant's requests; the other tenant's small jobs take no longer than without them. A
 * job of very many files, and as many concurrent jobs as an account may have. ISOLATION=all: 1,000,000 files.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { begin, ended, look, run } from '../jobs/support.js';
import { held } from '../support/reliability.js';
import {
  assertIsolated,
  CONNECTION,
  isSlow,
  MOST_AGAIN,
  scaled,
  startTenants,
  type Attack,
  type Tenants,
} from './support/tenants.js';

const SECONDS = scaled(30, 4);
const FILES = scaled(1_000_000, 12_000);
const JOBS = 50;
const SMALL_JOBS = scaled(10, 4);

const copy = (connectionId: string, from: string, to: string): object => ({
  type: 'copy',
  source: { connectionId, path: from },
  destination: { connectionId, path: to },
});

function fill(root: string, files: number): void {
  for (let index = 0; index < files; index++) {
    const folder = path.join(root, `d${Math.floor(index / 10_000)}`);
    if (index % 10_000 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `f${index}`), 'x');
  }
}

/** The slowest of some small jobs of B, one after the other. */
async function smallJobs({ b }: Tenants, name: string): Promise<number> {
  let slowest = 0;
  for (let index = 0; index < SMALL_JOBS; index++) {
    const from = performance.now();
    const job = await run(b, copy(`b-${CONNECTION}`, '/small', `/${name}-${index}`));
    slowest = Math.max(slowest, performance.now() - from);
    assert.deepEqual([job.state, job.counts.done], ['succeeded', 5], JSON.stringify(job));
  }
  return Math.round(slowest);
}

async function isolated(t: TestContext, what: string, tries: number, orders: readonly object[]): Promise<void> {
  const tenants = await startTenants();
  try {
    fill(path.join(tenants.aServer.files, 'many'), Math.max(1_000, FILES / orders.length));
    fill(path.join(tenants.bServer.files, 'small'), 5);
    const alone = await smallJobs(tenants, 'alone');
    let attacked = 0;
    const ids: string[] = [];
    const attack = async (): Promise<Attack> => {
      for (const order of orders) ids.push((await begin(tenants.a, order)).id);
      attacked = await smallJobs(tenants, 'attacked');
      for (let again = 0; again < MOST_AGAIN && isSlow(alone, attacked); again++)
        attacked = Math.min(attacked, await smallJobs(tenants, `again-${again}`));
      return {
        stop: async () => {
          const states = await Promise.all(ids.map(async (id) => (await look(tenants.a, id)).state));
          assert.ok(states.includes('running'), `the attack was over: ${states.join(' ')}`);
          for (const id of ids) await tenants.a.post(`/api/jobs/${id}/cancel`, {});
          for (const id of ids) await ended(tenants.a, id);
        },
      };
    };
    const report = await tenants.measure(t, { seconds: SECONDS, attack });
    t.diagnostic(`slowest of B's small jobs: ${alone} ms alone, ${attacked} ms under attack`);
    assertIsolated(report);
    assert.ok(!isSlow(alone, attacked), `a small job took ${alone} ms alone, and ${attacked} ms`);
    held({
      area: 'Attacks',
      what,
      done: 'one tenant copies, another one uploads, downloads, lists and begins small jobs',
      held: 'no request or job of the other one fails, and none takes more than three times as long',
      tries,
    });
  } finally {
    await tenants.stop();
  }
}

describe('one tenant with jobs, and the others', () => {
  test(`a job of ${FILES} small files`, (t) =>
    isolated(t, 'a job of very many small files', 1, [copy(CONNECTION, '/many', '/copies')]));

  test(`${JOBS} jobs at once`, (t) =>
    isolated(
      t,
      'as many jobs at once as are taken',
      JOBS,
      Array.from({ length: JOBS }, (_, index) => copy(CONNECTION, '/many', `/copies-${index}`)),
    ));
});
