/**
 * Files that were copied or moved, and whose node died before that was recorded: a repetition finds its own result, and
 * that is no conflict, under any rule. JOBS=all: also to S3.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { S3_SERVERS, SFTP_SERVERS } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { held } from '../support/reliability.js';
import { type Cluster, startCluster } from './cluster.js';
import { begin, eachOf, ended, filesOf, history, look } from './support.js';

const IS_FULL = process.env['JOBS'] === 'all';
const FILES = 300;
const RULES = [
  ['copy', 'fail', 'from', 'to'],
  ['copy', 'skip', 'from', 'to'],
  ['copy', 'newer', 'from', 'to'],
  ['copy', 'rename', 'from', 'to'],
  ['move', 'fail', 'from', 'to'],
  ['move', 'rename', 'from', 'to'],
  ['move', 'rename', 'from', 'from'],
  ['move', 'newer', 'from', 'from'],
  ['sync', 'replace', 'from', 'to'],
] as const;
const STORED = [
  ['copy', 'skip', 'from', 'store'],
  ['copy', 'rename', 'from', 'store'],
  ['move', 'rename', 'from', 'store'],
  ['move', 'fail', 'store', 'to'],
] as const;

const names = Array.from({ length: FILES }, (_, number) => `${number % 4}/file-${number}.txt`);
const contentOf = (name: string): string => `content of ${name}`;

describe('jobs with conflict rules whose node dies before it has recorded its work', { timeout: 900_000 }, () => {
  let cluster: Cluster<'from' | 'to' | 'store'>;

  before(async () => {
    const servers = { from: SFTP_SERVERS[1], to: SFTP_SERVERS[1], store: IS_FULL ? S3_SERVERS[0] : SFTP_SERVERS[1] };
    const options = { nodes: 1, config: { jobs: { runningPerAccount: RULES.length } } };
    cluster = await startCluster<'from' | 'to' | 'store'>(servers, options);
  });
  after(() => cluster?.stop());

  for (const [what, rules] of [['files', RULES] as const, ...(IS_FULL ? [['objects', STORED] as const] : [])]) {
    test(`its own result is no conflict: ${what}`, async () => {
      const runs = await Promise.all(rules.map((rule) => prepare(rule)));
      for (const run of runs) run.id = (await begin(cluster.api, run.order)).id;
      const isUnderWay = async ({ target, copies, before }: Run): Promise<boolean> =>
        (await target.files(copies)).length > before + 10;
      await eventually(async () => (await Promise.all(runs.map(isUnderWay))).every(Boolean), 'all are under way');
      const thaw = await cluster.postgres.freeze();
      let there = -1;
      const rests = async (): Promise<boolean> => {
        const former = there;
        const files = await Promise.all(runs.map(({ target, copies }) => target.files(copies)));
        there = files.flat().length;
        await delay(300);
        return there === former;
      };
      await eventually(rests, 'nothing more is done');
      await cluster.kill();
      thaw();
      await cluster.add();
      for (const { id } of runs) await ended(cluster.api, id, 240_000);
      for (const run of runs) await isWhole(run);
      held({
        area: 'Faults',
        what: 'a node dies between a copy and its record',
        done: 'the database stopped (SIGSTOP) under jobs with each conflict rule, then the node killed (SIGKILL) and another started',
        held: 'no file is found in its own way, none is there twice, each is in the history once',
        tries: runs.length,
      });
    });
  }

  type Rule = (typeof RULES)[number] | (typeof STORED)[number];
  type Run = Awaited<ReturnType<typeof prepare>>;

  async function prepare([type, onConflict, from, to]: Rule) {
    const [source, target] = [cluster.servers[from].disk, cluster.servers[to].disk];
    const [root, copies] = [`/source-${type}-${onConflict}-${to}`, `/target-${type}-${onConflict}-${from}-${to}`];
    await eachOf(names, (name) => source.write(`${root}/${name}`, contentOf(name)));
    const taken = onConflict === 'rename' ? names.slice(0, 40) : [];
    await eachOf(taken, (name) => target.write(`${copies}/${name}`, 'another one'));
    const order = {
      type,
      source: { connectionId: from, path: root },
      destination: { connectionId: to, path: copies },
      ...(type === 'sync' ? { compare: 'digest' } : { onConflict }),
    };
    return { id: '', type, order, source, target, root, copies, taken, before: taken.length };
  }

  async function isWhole({ id, type, order, source, target, root, copies, taken }: Run): Promise<void> {
    const job = await look(cluster.api, id);
    const troubles = (await filesOf(cluster.api, id)).filter(({ state }) => state !== 'done');
    const { state, counts } = job;
    assert.deepEqual(
      [state, counts.done, troubles.slice(0, 3)],
      ['succeeded', FILES, []],
      JSON.stringify([order, job]),
    );
    const expected = new Map([
      ...names.map((name) => [`${copies}/${name}`, contentOf(name)] as const),
      ...taken.flatMap((name) => [
        [`${copies}/${name}`, 'another one'] as const,
        [`${copies}/${name.replace('.txt', ' (2).txt')}`, contentOf(name)] as const,
      ]),
    ]);
    const shown = (await target.files(copies)).filter((file) => !file.includes('/.ftg-'));
    assert.deepEqual(shown, [...expected.keys()].sort());
    await eachOf(shown, async (file) => assert.equal((await target.read(file)).toString(), expected.get(file), file));
    const left = type === 'move' ? [] : names.map((name) => `${root}/${name}`).sort();
    assert.deepEqual(await source.files(root), left);
    const items = (await history(cluster.api)).filter(({ path }) => path.startsWith(`${copies}/`));
    assert.deepEqual([items.length, new Set(items.map(({ path }) => path)).size], [FILES, FILES]);
  }
});
