/**
 * Random trees and random changes, many at once, and nodes that are killed meanwhile: the results, counts and reports
 * of a sync equal those of a model. SYNC_SEED: the first seed; SYNC_SEEDS: how many trees; SYNC_ROUNDS: syncs of each.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';
import { held } from '../support/reliability.js';
import { type Cluster, startCluster } from './cluster.js';
import { begin, eachOf, ENDED, filesOf, type JobView } from './support.js';

const FIRST_SEED = Number(process.env['SYNC_SEED'] ?? Date.now() % 1_000_000);
const SEEDS = Number(process.env['SYNC_SEEDS'] ?? 10);
const ROUNDS = Number(process.env['SYNC_ROUNDS'] ?? 2);
const AT_ONCE = 20;
const DAY_MS = 86_400_000;
/** Times are changed by days, and every server shows at least the day. */
const SAME_MS = 1.5 * DAY_MS;
const NOW = Math.floor(Date.now() / DAY_MS) * DAY_MS;

const SERVERS = { sftp: SFTP_SERVERS[1], other: SFTP_SERVERS[1], ftp: FTP_SERVERS[0], s3: S3_SERVERS[0] };
type Name = keyof typeof SERVERS;
const PAIRS: readonly (readonly [Name, Name])[] = [
  ['sftp', 'ftp'],
  ['ftp', 'other'],
  ['sftp', 's3'],
  ['s3', 'other'],
  ['sftp', 'other'],
];
const FOLDERS = ['a', 'a/b', 'a-b', 'a.b', 'c/d/e', 'ö', 'with blank', '#1', "it's", '100%', 'a+b'];
const FILES = [
  'f',
  'f0',
  'F1',
  'a',
  'b',
  'd',
  'ö',
  'e\u0301',
  '日本',
  '😀',
  'x y',
  '.hidden',
  '-r',
  '~',
  'a*',
  'q?',
  '[1]',
  'a:b',
];

interface Entry {
  readonly content: string;
  readonly isFolder: boolean;
  readonly modifiedMs: number;
}
/** By their paths below the root; a folder ends with a slash. */
type Tree = ReadonlyMap<string, Entry>;

interface Expected {
  readonly tree: ReadonlyMap<string, string | undefined>;
  readonly counts: Partial<JobView['counts']>;
  readonly isWhole: boolean;
}

function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) % below;
  };
}

describe('syncs compared with a model', { timeout: 3_600_000 }, () => {
  let cluster: Cluster<Name>;
  const keeps: Partial<Record<Name, boolean>> = {};

  before(async () => {
    cluster = await startCluster(SERVERS, { config: { jobs: { runningPerAccount: AT_ONCE } } });
    for (const name of Object.keys(SERVERS) as Name[]) {
      await write(name, '/keeps/time', 'x', NOW - 30 * DAY_MS);
      const [file] = await list(name, '/keeps');
      keeps[name] = Math.abs(Date.parse(file?.modifiedAt ?? '') - (NOW - 30 * DAY_MS)) < SAME_MS;
    }
  });
  after(() => cluster?.stop());

  for (let from = 0; from < SEEDS; from += AT_ONCE) {
    const seeds = Array.from({ length: Math.min(AT_ONCE, SEEDS - from) }, (_, index) => FIRST_SEED + from + index);
    test(`seeds ${seeds[0]} to ${seeds.at(-1)}`, async () => {
      const worlds = seeds.map((seed) => new World(seed));
      for (let round = 0; round < ROUNDS; round++) {
        await eachOf(worlds, (world) => world.change());
        for (const world of worlds) await world.begin();
        const random = randomOf(FIRST_SEED + from + round);
        const kills = round % 2 === 0 ? 1 + random(2) : 0;
        for (let kill = 0; kill < kills; kill++) {
          await delay(100 + random(900));
          await cluster.kill();
          await cluster.add();
        }
        const faults: string[] = [];
        for (const world of worlds) {
          await world.check().catch((error: unknown) => {
            faults.push(`SYNC_SEED=${world.seed} SYNC_SEEDS=1, round ${round}, ${kills} kills: ${String(error)}`);
          });
        }
        assert.deepEqual(faults, []);
      }
      held({
        area: 'Faults',
        what: 'random trees are changed at random and synced, while nodes are killed (SIGKILL)',
        done: 'files and folders added, changed, removed, renamed, in place of each other, with odd names and times set back, on SFTP, FTP and S3',
        held: 'what is there afterwards, the counts and the end of the job are what a model says',
        tries: worlds.length * ROUNDS,
      });
    });
  }

  class World {
    readonly #random: (below: number) => number;
    readonly #from: Name;
    readonly #to: Name;
    readonly #order: Record<string, unknown>;
    readonly #root: string;
    #id = '';
    #source: Tree = new Map();
    #target: Tree = new Map();

    constructor(readonly seed: number) {
      this.#random = randomOf(seed);
      [this.#from, this.#to] = PAIRS[seed % PAIRS.length] ?? assert.fail();
      this.#root = `/world-${seed}`;
      const compare = (['size-and-time', 'size', 'digest'] as const)[this.#random(3)];
      this.#order = {
        type: 'sync',
        source: { connectionId: this.#from, path: this.#root },
        compare,
        destination: { connectionId: this.#to, path: this.#root },
        allowEmptySource: true,
        deleteExtra: this.#random(3) > 0,
        maxDeletes: this.#random(4) === 0 ? 1 : 1000,
      };
    }

    async change(): Promise<void> {
      await this.#changeOne(this.#from, 14);
      await this.#changeOne(this.#to, 5);
      [this.#source, this.#target] = [await read(this.#from, this.#root), await read(this.#to, this.#root)];
    }

    async begin(): Promise<void> {
      this.#id = (await begin(cluster.api, this.#order)).id;
    }

    async check(): Promise<void> {
      const expected = this.#expected();
      let job = await cluster.see(this.#id);
      for (const until = Date.now() + 240_000; !ENDED.includes(job.state) && Date.now() < until;) {
        await delay(50);
        job = await cluster.see(this.#id);
      }
      const files = (await filesOf(cluster.api, this.#id)).filter(({ state }) => state === 'failed');
      const what = JSON.stringify([this.#order, job, files.slice(0, 5), listed(this.#source), listed(this.#target)]);
      // Files that dead nodes had begun are also removed, when others look for them.
      const hasTemporary = async (): Promise<boolean> =>
        (await cluster.servers[this.#to].disk.files(this.#root)).some((file) => file.includes('/.ftg-'));
      await eventually(async () => !(await hasTemporary()), 'nothing half-written is left');
      const now = await read(this.#to, this.#root);
      const left = new Map([...now].map(([path, { content, isFolder }]) => [path, isFolder ? undefined : content]));
      assert.deepEqual([...left].sort(byPath), [...expected.tree].sort(byPath), what);
      assert.equal(job.state === 'succeeded', expected.isWhole, what);
      if (this.#order['compare'] === 'digest') {
        // Whether a dead node had copied equal bytes is unknown.
        const { done, skipped } = job.counts;
        assert.ok(done >= (expected.counts.done ?? 0), what);
        Object.assign(expected.counts, {
          done,
          skipped: (expected.counts.done ?? 0) + (expected.counts.skipped ?? 0) - done,
        });
        assert.equal(skipped, expected.counts.skipped, what);
      }
      const reported = Object.fromEntries(
        Object.keys(expected.counts).map((name) => [name, job.counts[name as keyof JobView['counts']]]),
      );
      assert.deepEqual(reported, expected.counts, what);
      const source = new Map([...(await read(this.#from, this.#root))].map(([path, { content }]) => [path, content]));
      assert.deepEqual(source, new Map([...this.#source].map(([path, { content }]) => [path, content])), 'the source');
    }

    async #changeOne(name: Name, count: number): Promise<void> {
      const pick = <T>(values: readonly T[]): T => values[this.#random(values.length)] as T;
      const anyPath = (): string => {
        const folder = this.#random(3) === 0 ? '' : `${pick(FOLDERS)}/`;
        return `${this.#root}/${folder}${pick(FILES)}`;
      };
      const content = (): string => 'x'.repeat(1 + this.#random(300)) + String(this.#random(1000));
      const time = (): number => NOW - 3 * (1 + this.#random(40)) * DAY_MS;
      await mkdir(name, this.#root);
      for (let change = 0; change < count; change++) {
        const tree = [...(await list(name, this.#root))];
        const files = tree.filter(({ isDirectory }) => !isDirectory);
        const folders = tree.filter(({ isDirectory }) => isDirectory);
        const [file, folder] = [
          files.length > 0 ? pick(files) : undefined,
          folders.length > 0 ? pick(folders) : undefined,
        ];
        const kind = this.#random(14);
        // Some conflict on this very server: then nothing changes.
        if (kind < 5 || file === undefined) await write(name, anyPath(), content(), time());
        else if (kind < 7) await write(name, file.path, content(), time());
        else if (kind === 7) await write(name, file.path, 'y'.repeat(file.size), time());
        else if (kind === 8) await remove(name, file.path, false);
        else if (kind === 9) await move(name, file.path, anyPath());
        else if (kind === 10) await mkdir(name, `${this.#root}/${pick(FOLDERS)}/empty${this.#random(3)}`);
        else if (kind === 11 && folder !== undefined) await remove(name, folder.path, true);
        else if (kind === 12) {
          await remove(name, file.path, false);
          await write(name, `${file.path}/below`, content(), time());
        } else if (folder !== undefined) {
          await remove(name, folder.path, true);
          await write(name, folder.path, content(), time());
        }
      }
    }

    #expected(): Expected {
      const { deleteExtra, maxDeletes } = this.#order as { deleteExtra: boolean; maxDeletes: number };
      const tree = new Map(
        [...this.#target].map(([path, { content, isFolder }]) => [path, isFolder ? undefined : content]),
      );
      const before = new Set(tree.keys());
      const isBlocked = (path: string): boolean => {
        if (before.has(path.endsWith('/') ? path.slice(0, -1) : `${path}/`)) return true;
        const parts = path.split('/');
        return parts.some(
          (_, depth) => depth > 0 && depth < parts.length && before.has(parts.slice(0, depth).join('/')),
        );
      };
      let [done, skipped, troubles] = [0, 0, 0];
      const copied: [path: string, content: string | undefined][] = [];
      for (const [path, entry] of this.#source) {
        const target = this.#target.get(path);
        if (entry.isFolder) {
          const isEmpty = ![...this.#source.keys()].some((other) => other !== path && other.startsWith(path));
          if (!isEmpty || target !== undefined) continue;
          if (isBlocked(path)) troubles += 1;
          else copied.push([path, undefined]);
        } else if (target !== undefined && this.#isSame(entry, target)) skipped += 1;
        else if (isBlocked(path)) troubles += 1;
        else {
          done += 1;
          copied.push([path, entry.content]);
        }
      }
      for (const [path, content] of copied) {
        tree.set(path, content);
        const parts = path.split('/').filter(Boolean);
        for (let depth = 1; depth < parts.length; depth++) tree.set(`${parts.slice(0, depth).join('/')}/`, undefined);
      }
      const extra = [...before].filter((path) => !this.#source.has(path));
      const extraFiles = extra.filter((path) => !path.endsWith('/'));
      const mayDelete = deleteExtra && troubles === 0 && extraFiles.length <= maxDeletes;
      if (mayDelete) for (const path of extra) tree.delete(path);
      const isWhole = troubles === 0 && (!deleteExtra || mayDelete);
      const deleted = mayDelete ? extraFiles.length : 0;
      return { tree, counts: { done, skipped, deleted, ...(troubles === 0 ? { failed: 0 } : {}) }, isWhole };
    }

    #isSame(source: Entry, target: Entry): boolean {
      const { compare } = this.#order as { compare: string };
      if (compare === 'digest') return source.content === target.content;
      if (source.content.length !== target.content.length) return false;
      if (compare === 'size') return true;
      const offMs = target.modifiedMs - source.modifiedMs;
      // Objects are as old as their upload, and copies have that time.
      const sameMs = this.#from === 's3' ? 1000 : SAME_MS;
      return Math.abs(offMs) < sameMs || (keeps[this.#to] !== true && offMs > 0);
    }
  }

  interface Listed {
    readonly path: string;
    readonly isDirectory: boolean;
    readonly size: number;
    readonly modifiedAt: string;
  }

  async function list(name: Name, root: string): Promise<Listed[]> {
    const answer = await cluster.api.get(`/api/list/${name}`, { query: { path: root, recursive: 'true' } });
    if (answer.status === 404) return [];
    assert.equal(answer.status, 200, answer.text);
    return answer.json['files'] as Listed[];
  }

  async function read(name: Name, root: string): Promise<Tree> {
    const { disk } = cluster.servers[name];
    const tree = new Map<string, Entry>();
    for (const { path, isDirectory: isFolder, modifiedAt } of await list(name, root)) {
      const content = isFolder ? '' : (await disk.read(path)).toString();
      const below = path.slice(root.length + 1) + (isFolder ? '/' : '');
      tree.set(below, { content, isFolder, modifiedMs: Date.parse(modifiedAt) });
    }
    return tree;
  }

  const expect = (answer: { status: number; text: string }, ...statuses: number[]): void =>
    assert.ok(statuses.includes(answer.status), answer.text);

  async function write(name: Name, path: string, content: string, modifiedMs: number): Promise<void> {
    const slash = path.lastIndexOf('/');
    const mtime = new Date(modifiedMs).toISOString();
    const query = { path: path.slice(0, slash) || '/', filename: path.slice(slash + 1), mtime };
    const headers = { 'Content-Type': 'application/octet-stream' };
    // A store can have a folder and a file of one name; no tree can.
    if (name === 's3' && (await isInTheWay(path))) return;
    const answer = await cluster.api.send(`/api/upload/${name}`, { method: 'POST', query, headers, body: content });
    expect(answer, 200, 201, 409, 502, 403);
  }

  async function isInTheWay(path: string): Promise<boolean> {
    const [, root = ''] = path.split('/');
    const tree = await list('s3', `/${root}`);
    return tree.some((one) => (one.isDirectory ? one.path === path : path.startsWith(`${one.path}/`)));
  }

  async function remove(name: Name, path: string, recursive: boolean): Promise<void> {
    expect(await cluster.api.post(`/api/delete/${name}`, { path, ...(recursive ? { recursive } : {}) }), 200, 404);
  }

  async function mkdir(name: Name, path: string): Promise<void> {
    if (name === 's3' && path.split('/').length > 2 && (await isInTheWay(path))) return;
    expect(await cluster.api.post(`/api/mkdir/${name}`, { path }), 200, 201, 409, 502, 403);
  }

  async function move(name: Name, from: string, to: string): Promise<void> {
    if (to === from || to.startsWith(`${from}/`) || (name === 's3' && (await isInTheWay(to)))) return;
    expect(await cluster.api.post(`/api/move/${name}`, { from, to }), 200, 409, 502, 403);
  }
});

const byPath = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : one > other ? 1 : 0;

const listed = (tree: Tree): string[] => [...tree].map(([path, { content }]) => `${path} ${content.length}`);
