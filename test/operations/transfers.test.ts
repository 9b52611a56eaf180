import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { Budget } from '../../src/budgets/budget.js';
import { Memory } from '../../src/budgets/memory.js';
import { GatewayError } from '../../src/base/errors.js';
import { deleteAll } from '../../src/operations/change.js';
import { copyFile } from '../../src/operations/copy.js';
import { openDownload, readFile } from '../../src/operations/get.js';
import { type Operation, type OperationRequest, type OperationResult } from '../../src/operations/operation.js';
import { referTo, type PathReference } from '../../src/operations/path-reference.js';
import { putFile, type PutRequest, type PutTarget } from '../../src/operations/put.js';
import type { RemotePath } from '../../src/remotes/path.js';
import type { Remote } from '../../src/remotes/remote.js';
import type { OpenTransfer } from '../../src/storage/storage.js';
import { openTest } from '../storage/databases.js';
import { startRig, type Rig } from './rig.js';
import { withCode } from '../support/errors.js';
import { eventually } from '../support/eventually.js';
import { assertRecent } from '../support/recent.js';

let rig: Rig;
before(async () => {
  rig = await startRig();
});
after(() => rig.stop());

const at = (path: string): PathReference => referTo(rig.connection, path, 'path');
const file = (path: string, overwrite = true): PutTarget => ({ file: at(path), overwrite });
const inFolder = (
  folder: string,
  filename: string,
  changes: { overwrite?: boolean; template?: string } = {},
): PutTarget => ({
  folder: at(folder),
  filename,
  template: changes.template,
  overwrite: changes.overwrite ?? true,
});
const onDisk = (path: string): string => readFileSync(join(rig.folder, path), 'utf8');
const put = (changes: Partial<PutRequest> & { target: PutTarget }, request: Partial<OperationRequest> = {}) =>
  rig.operations.run(rig.request('upload', request), (operation) =>
    putFile(rig.operations, operation, {
      connection: rig.connection,
      body: Readable.from([Buffer.from('content')]),
      maxBytes: 0,
      ...changes,
    }),
  );
const nothingHidden = (folder: string): void => {
  const names = existsSync(join(rig.folder, folder)) ? readdirSync(join(rig.folder, folder)) : [];
  assert.deepEqual(
    names.filter((name) => name.startsWith('.ftg-')),
    [],
  );
};
/** A session that survives a failed lease is checked before the lease counts as returned. */
const nothingLeased = (): Promise<void> =>
  eventually(() => rig.remotes.gauges().every(({ leased, waiting }) => leased + waiting === 0), 'the leases are back');

describe('putFile', () => {
  test('stores the whole file at its path, in new folders, and in the history', async () => {
    const since = Date.now();
    const { result, transferId, durationMs } = await put({
      target: inFolder('/put/new', 'a.txt', { template: '{name}-x' }),
    });
    assert.equal(onDisk('put/new/a-x.txt'), 'content');
    assert.deepEqual([result.path, result.size], ['/put/new/a-x.txt', 7]);
    const { createdAt, ...item } = await rig.newest();
    assertRecent(createdAt, since);
    assert.deepEqual(item, {
      id: transferId,
      connectionId: 'sandbox',
      type: 'upload',
      direction: 'outbound',
      filename: 'a-x.txt',
      path: '/put/new/a-x.txt',
      fileSize: 7,
      status: 'success',
      errorMessage: null,
      durationMs,
      repeatable: false,
    });
    nothingHidden('put/new');
  });

  test('a short body is complete, and checked, before a session is taken for it', async () => {
    let complete: (bytes: Buffer) => void = () => undefined;
    const body = new Promise<Buffer>((resolve) => (complete = resolve));
    const isIdle = (): boolean => rig.remotes.gauges().every(({ leased, waiting }) => leased + waiting === 0);
    await nothingLeased();
    const putting = put({ target: file('/whole/a.txt'), body: () => body, size: 7 });
    for (let turn = 0; turn < 20; turn++) {
      await new Promise(setImmediate);
      assert.ok(isIdle(), 'no session waits for the client');
    }
    complete(Buffer.from('content'));
    await putting;
    assert.equal(onDisk('whole/a.txt'), 'content');

    const digest = { algorithm: 'sha256', value: Buffer.alloc(32) } as const;
    const bad: Record<string, Partial<PutRequest>> = {
      digest_mismatch: { digest },
      too_large: { maxBytes: 6 },
      size_mismatch: { size: 8 },
      client_gone: { body: () => Promise.reject(new GatewayError('client_gone', 'the client left')) },
    };
    for (const [code, changes] of Object.entries(bad)) {
      const opened = rig.outcomes.length;
      await assert.rejects(
        put({ target: file('/whole/bad.txt'), body: async () => Buffer.from('content'), ...changes }),
        withCode(code as 'too_large'),
      );
      const stages: string[] = [];
      rig.outcomes[opened]?.stages.forEach((_ms, stage) => stages.push(stage));
      assert.equal(stages.includes('queue'), false, `${code}: no session was asked for`);
      assert.equal((await rig.newest()).status, 'failed');
    }
    assert.deepEqual(readdirSync(join(rig.folder, 'whole')), ['a.txt']);
  });

  test('the owner ends an operation that still waits for its short body', async () => {
    const ender = new AbortController();
    const putting = put(
      { target: file('/whole/never.txt'), body: () => new Promise(() => undefined) },
      { signal: ender.signal },
    );
    ender.abort(new GatewayError('client_gone', 'the client left'));
    await assert.rejects(putting, withCode('client_gone'));
  });

  test('a late field names the file, and decides whether it may replace one', async () => {
    mkdirSync(join(rig.folder, 'late'));
    writeFileSync(join(rig.folder, 'late/early.txt'), 'old');
    // The early name exists and may not be replaced, but the late name is another one.
    const early = inFolder('/late', 'early.txt', { overwrite: false });
    await put({ target: early, lateTarget: async () => inFolder('/late', 'late.txt', { overwrite: false }) });
    assert.deepEqual([onDisk('late/early.txt'), onDisk('late/late.txt')], ['old', 'content']);
    await put({ target: early, lateTarget: async () => inFolder('/late', 'early.txt') });
    assert.equal(onDisk('late/early.txt'), 'content');
    writeFileSync(join(rig.folder, 'late/early.txt'), 'old');
    const refused = put({ target: inFolder('/late', 'early.txt'), lateTarget: async () => early });
    await assert.rejects(refused, withCode('already_exists'));
    assert.equal(onDisk('late/early.txt'), 'old');
    const failing = put({
      target: early,
      lateTarget: () => Promise.reject(new GatewayError('bad_request', 'overwrite must be boolean')),
    });
    await assert.rejects(failing, withCode('bad_request'));
    assert.equal((await rig.newest()).errorMessage, 'overwrite must be boolean');
    nothingHidden('late');
    await nothingLeased();
  });

  test('if two must not replace, one wins and the other gets the error', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, (_, index) =>
        put({ target: file('/race.txt', false), body: Readable.from([Buffer.from(`writer ${index}`)]) }),
      ),
    );
    const winners = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
    assert.equal(winners.length, 1);
    assert.equal(onDisk('race.txt'), `writer ${winners[0]}`);
    for (const outcome of outcomes) if (outcome.status === 'rejected') withCode('already_exists')(outcome.reason);
    nothingHidden('');
  });

  test('every failure leaves only the former file', async () => {
    mkdirSync(join(rig.folder, 'safe'));
    writeFileSync(join(rig.folder, 'safe/a.txt'), 'former');
    const digest = { algorithm: 'sha256' as const, value: createHash('sha256').update('other').digest() };
    const broken = (): Readable => {
      const body = new PassThrough();
      body.write('half');
      setImmediate(() => body.destroy(new GatewayError('client_gone', 'the client left')));
      return body;
    };
    const cases: readonly (readonly [Partial<PutRequest>, Parameters<typeof withCode>[0]])[] = [
      [{ digest }, 'digest_mismatch'],
      [{ size: 9 }, 'size_mismatch'],
      [{ size: 3 }, 'size_mismatch'],
      [{ maxBytes: 3 }, 'too_large'],
      [{ target: file('/safe/a.txt', false) }, 'already_exists'],
      [{ target: file('/safe') }, 'is_a_folder'],
    ];
    for (const [changes, code] of cases) {
      await assert.rejects(put({ target: file('/safe/a.txt'), ...changes }), withCode(code));
      assert.equal((await rig.newest()).status, 'failed');
    }
    await assert.rejects(put({ target: file('/safe/a.txt'), body: broken() }), withCode('client_gone'));
    assert.equal(onDisk('safe/a.txt'), 'former');
    nothingHidden('safe');
    nothingHidden('');
    await nothingLeased();
  });

  for (const [moment, bytes] of [
    ['at the first sight of its hidden file', 0],
    ['in the middle', 4],
  ] as const) {
    test(`an abort ${moment} is recorded with its own reason and leaves nothing`, async () => {
      const folder = join(rig.folder, `aborted-${bytes}`);
      const controller = new AbortController();
      const body = new PassThrough();
      body.write('half');
      const running = put({ target: file(`/aborted-${bytes}/a.txt`), body }, { signal: controller.signal });
      const hasCome = (name: string): boolean => statSync(join(folder, name)).size >= bytes;
      await eventually(() => existsSync(folder) && readdirSync(folder).some(hasCome), 'the hidden file');
      controller.abort(new GatewayError('client_gone', 'the client left'));
      await assert.rejects(running, withCode('client_gone'));
      const isEmpty = (): boolean => readdirSync(folder).length === 0;
      // Before the opening is answered there is no handle yet, and the sweep removes the name.
      if (bytes === 0) await eventually(isEmpty, 'the hidden file goes');
      else assert.ok(isEmpty());
      const item = await rig.newest();
      const expected = ['failed', 'the client left', `/aborted-${bytes}/a.txt`];
      assert.deepEqual([item.status, item.errorMessage, item.path], expected);
      await nothingLeased();
    });
  }
});

describe('openDownload', () => {
  const big = Buffer.alloc(300_000, 'abcdefghij');
  before(() => writeFileSync(join(rig.folder, 'big.bin'), big));
  const open = (
    options: Parameters<typeof openDownload>[3] = {},
    request: Partial<OperationRequest> = {},
    path = '/big.bin',
  ) => openDownload(rig.operations, rig.request('download', request), at(path), options);

  test('the item is in the history before the last chunk is sent, and the lease is returned', async () => {
    const download = await open();
    assert.deepEqual([download.length, download.range], [300_000, undefined]);
    let received = 0;
    for await (const chunk of download.body as AsyncIterable<Buffer>) {
      received += chunk.length;
      if (received < big.length) continue;
      const item = await rig.newest();
      assert.deepEqual([item.id, item.status, item.fileSize], [download.transferId, 'success', 300_000]);
      await nothingLeased();
    }
    assert.equal(received, big.length);
  });

  test('a range, an empty file, an answer without a body', async () => {
    const part = await open({ select: () => ({ start: 10, end: 99_999 }) });
    assert.equal(part.length, 99_990);
    assert.deepEqual(await buffer(part.body as Readable), big.subarray(10, 100_000));
    writeFileSync(join(rig.folder, 'empty'), '');
    const empty = await open({}, {}, '/empty');
    assert.deepEqual([empty.whole?.length, empty.body], [0, undefined]);
    const head = await open({ factsOnly: true });
    assert.deepEqual([head.body, head.length], [undefined, 300_000]);
    const ranged = await open({ factsOnly: true, select: () => ({ start: 10, end: 99_999 }) });
    assert.deepEqual([ranged.body, ranged.length, ranged.range], [undefined, 99_990, { start: 10, end: 99_999 }]);
    const same = await open({ factsOnly: true, skipBody: () => true, select: () => assert.fail() });
    assert.deepEqual([same.length, same.range], [300_000, undefined]);
    assert.equal((await rig.newest()).status, 'success');
    await nothingLeased();
  });

  test('a condition is checked while the file is opened: it is not looked up before', async (t) => {
    let looks = 0;
    const watched: PathReference = (remote) => {
      const stat = remote.stat.bind(remote);
      t.mock.method(remote, 'stat', (path: RemotePath) => {
        looks += 1;
        return stat(path);
      });
      return at('/big.bin')(remote);
    };
    const ask = (options: Parameters<typeof openDownload>[3]) =>
      openDownload(rig.operations, rig.request('download'), watched, options);
    const seen: number[] = [];
    const isMet = ({ size }: { readonly size: number }): boolean => seen.push(size) === 0;
    const part = await ask({ skipBody: isMet, select: () => ({ start: 10, end: 99_999 }) });
    assert.deepEqual(await buffer(part.body as Readable), big.subarray(10, 100_000));
    const all = await ask({ skipBody: isMet });
    assert.ok((await buffer(all.body as Readable)).equals(big));
    assert.ok(seen.length >= 2 && seen.every((size) => size === 300_000));
    const select = t.mock.fn(() => undefined);
    const unchanged = await ask({ skipBody: () => true, select });
    assert.deepEqual([unchanged.body, unchanged.whole, unchanged.length], [undefined, undefined, 300_000]);
    assert.equal(select.mock.callCount(), 0);
    assert.equal((await rig.newest()).status, 'success');
    const refused = new GatewayError('already_exists', 'another version');
    const refuse = (): never => {
      throw refused;
    };
    await assert.rejects(ask({ skipBody: refuse }), (error) => error === refused);
    assert.equal(looks, 0);
    await nothingLeased();
  });

  test('a short file, and a short range of a long one, are returned whole: recorded, and their session is free', async () => {
    writeFileSync(join(rig.folder, 'short.bin'), big.subarray(0, 65_536));
    const ranged = { select: () => ({ start: 100_000, end: 165_535 }) };
    for (const [options, path, from] of [[{}, '/short.bin', 0] as const, [ranged, '/big.bin', 100_000] as const]) {
      const download = await open(options, {}, path);
      assert.equal(download.body, undefined);
      assert.ok(download.whole?.equals(big.subarray(from, from + 65_536)), path);
      const item = await rig.newest();
      assert.deepEqual([item.id, item.status, item.fileSize], [download.transferId, 'success', 65_536]);
      await nothingLeased();
    }
    writeFileSync(join(rig.folder, 'long.bin'), big.subarray(0, 65_537));
    const long = await open({}, {}, '/long.bin');
    assert.deepEqual([long.whole, (await buffer(long.body as Readable)).length], [undefined, 65_537]);
  });

  test('a missing file, a folder and an impossible range fail before anything streams', async () => {
    await assert.rejects(open({}, {}, '/absent'), withCode('not_found'));
    await assert.rejects(open({ factsOnly: true }, {}, '/'), withCode('is_a_folder'));
    const badRange = new GatewayError('bad_range', 'outside');
    const refuse = (): never => {
      throw badRange;
    };
    await assert.rejects(open({ select: refuse }), (error) => error === badRange);
    assert.equal((await rig.newest()).errorMessage, 'outside');
    await nothingLeased();
  });

  test('a consumer that leaves is client_gone; an abort has its own reason', async () => {
    const left = await open();
    left.body?.once('error', () => undefined).destroy();
    await eventually(() => rig.outcomes.at(-1)?.transferId === left.transferId, 'the outcome');
    assert.deepEqual([(await rig.newest()).status, rig.outcomes.at(-1)?.error?.code], ['failed', 'client_gone']);
    const controller = new AbortController();
    const cut = await open({}, { signal: controller.signal });
    controller.abort(new GatewayError('draining', 'the gateway stops'));
    await assert.rejects(buffer(cut.body as Readable));
    await eventually(() => rig.outcomes.at(-1)?.transferId === cut.transferId, 'the outcome');
    assert.equal((await rig.newest()).errorMessage, 'the gateway stops');
    await nothingLeased();
  });

  test('a small file is read whole, a large one refused', async () => {
    writeFileSync(join(rig.folder, 'small'), 'text');
    const memory = new Memory(new Budget({ name: 'memoryBytes', unit: 'bytes', capacity: 5 }), 'a').hold();
    const read = (maxBytes: number, extraBytes = 0): ReturnType<typeof readFile<string>> =>
      readFile(rig.operations, rig.request('read'), at('/small'), {
        maxBytes,
        memory,
        decodedBytes: () => extraBytes,
        decode: String,
      });
    const { result } = await read(4);
    assert.equal(result.content, 'text');
    assert.equal(memory.bytes, 4);
    await assert.rejects(read(3), withCode('too_large', /3/));
    await assert.rejects(read(4, 2), withCode('overloaded', /memoryBytes/));
    await nothingLeased();
  });
});

describe('copyFile', () => {
  const copy = (from: string, to: string, changes: Partial<Parameters<typeof copyFile>[2]> = {}) =>
    rig.operations.run(rig.request('copy', { connection: changes.target ?? rig.connection }), (operation) =>
      copyFile(rig.operations, operation, {
        source: rig.connection,
        target: rig.connection,
        from: at(from),
        to: at(to),
        template: undefined,
        overwrite: true,
        ...changes,
      }),
    );

  test('from place to place on one login', async () => {
    writeFileSync(join(rig.folder, 'original.txt'), 'original');
    const { result } = await copy('/original.txt', '/copies/x.txt', { template: '{name}-copy' });
    const { modifiedAt, ...copied } = result;
    assert.equal(modifiedAt.getTime(), Math.floor(statSync(join(rig.folder, 'original.txt')).mtimeMs / 1000) * 1000);
    assert.deepEqual(copied, { from: '/original.txt', to: '/copies/x-copy.txt', size: 8 });
    assert.equal(onDisk('copies/x-copy.txt'), 'original');
    await assert.rejects(copy('/original.txt', '/copies/x-copy.txt', { overwrite: false }), withCode('already_exists'));
    await assert.rejects(copy('/absent', '/y'), withCode('not_found'));
    nothingHidden('copies');
    await nothingLeased();
  });

  test('never onto itself, also through another connection to the same login', async () => {
    const other = { ...rig.connection, rootPath: '/copies' };
    await assert.rejects(copy('/original.txt', '/original.txt'), withCode('already_exists', /itself/));
    const onItself = copy('/copies/x-copy.txt', '/x-copy.txt', { target: other });
    await assert.rejects(onItself, withCode('already_exists', /itself/));
    assert.equal(onDisk('copies/x-copy.txt'), 'original');
  });

  test('a login with room for one session and one channel names the setting to raise', async () => {
    const pool = { maxSessions: 1, maxChannelsPerSession: 1 };
    const narrow = { ...rig.connection, id: 'narrow', algorithms: 'legacy' as const, pool };
    const refused = rig.operations.run(rig.request('copy', { connection: narrow }), (operation) =>
      copyFile(rig.operations, operation, {
        source: narrow,
        target: narrow,
        from: at('/original.txt'),
        to: at('/z'),
        template: undefined,
        overwrite: true,
      }),
    );
    await assert.rejects(refused, withCode('sessions_exhausted', /maxSessions/));
  });
});

describe('operations', () => {
  test('listing is free, everything else counts, and a used-up month refuses before it starts', async () => {
    const caller = { ...rig.request('list').caller, plan: 'small' };
    const nothing = async (): Promise<void> => undefined;
    const used = await rig.storage.quota.used(caller.accountId);
    await rig.operations.run(rig.request('list', { caller }), nothing);
    await rig.operations.run(rig.request('exists', { caller }), nothing);
    assert.equal(await rig.storage.quota.used(caller.accountId), used);
    await eventually(() => rig.storage.history.queuedRows === 0, 'the rows of both stand');
    const { total } = await rig.storage.history.list(caller.accountId, { limit: 1, offset: 0 });
    // The account has already done more than the two actions of this plan.
    await assert.rejects(rig.operations.run(rig.request('mkdir', { caller }), nothing), withCode('quota_exceeded'));
    const after = await rig.storage.history.list(caller.accountId, { limit: 1, offset: 0 });
    assert.equal(after.total, total);
  });

  test('an inactive connection and a client that has left start nothing', async () => {
    const nothing = (): never => assert.fail('it must not run');
    const inactive = { ...rig.connection, isActive: false };
    await assert.rejects(
      rig.operations.run(rig.request('mkdir', { connection: inactive }), nothing),
      withCode('connection_inactive'),
    );
    const signal = AbortSignal.abort(new GatewayError('client_gone', 'left'));
    await assert.rejects(rig.operations.run(rig.request('mkdir', { signal }), nothing), withCode('client_gone'));
  });

  test('an unexpected failure is internal, in the history without its text', async () => {
    const failing = rig.operations.run(rig.request('mkdir'), async () => {
      throw new Error('a secret detail');
    });
    await assert.rejects(failing, withCode('internal'));
    assert.doesNotMatch((await rig.newest()).errorMessage ?? '', /secret/);
  });

  test('work that was done and could not be recorded does not run again under its key; failed work may', async () => {
    const away = new GatewayError('database_away', 'the history cannot be written');
    const { history, quota, locks } = rig.storage;
    const unrecorded: typeof history = Object.assign(Object.create(history) as typeof history, {
      admit: async () => undefined,
      begin: (...asked: Parameters<typeof history.begin>) => ({
        ...Object.assign(Object.create(history.begin(...asked)) as OpenTransfer, {
          finish: () => Promise.reject(away),
        }),
        recordPending: async () => undefined,
        locate: () => undefined,
      }),
    });
    const operations = rig.operationsOn({ history: unrecorded, quota, locks });
    let lost = 0;
    const intent = { begin: async () => undefined, lose: () => lost++ };
    const done = operations.run(rig.request('mkdir', { intent }), async () => undefined);
    await assert.rejects(done, withCode('outcome_unrecorded'));
    assert.equal(lost, 1);
    const refused = operations.run(rig.request('mkdir', { intent }), async () => {
      throw new GatewayError('permission_denied', 'no');
    });
    await assert.rejects(refused, withCode('permission_denied'));
    assert.equal(lost, 1);
  });

  test('a folder’s deletion stops when its client leaves, and a repetition continues from there', async () => {
    const files = 300;
    mkdirSync(join(rig.folder, 'many'));
    for (let index = 0; index < files; index++) writeFileSync(join(rig.folder, 'many', String(index)), '');
    const ender = new AbortController();
    const aborted = once(ender.signal, 'abort');
    let removals = 0;
    const begun: Promise<void>[] = [];
    // The client leaves while no removal is under way: the server would perform it, and nothing would say when.
    const removeOrLeave =
      (remote: Remote): Remote['remove'] =>
      async (...given) => {
        if (++removals === 50) {
          void Promise.allSettled(begun).then(() => ender.abort(new GatewayError('client_gone', 'the client left')));
        }
        if (removals >= 50) {
          await aborted;
          throw ender.signal.reason;
        }
        const removal = remote.remove(...given);
        begun.push(removal);
        return removal;
      };
    const leaving = (remote: Remote): Remote =>
      new Proxy(remote, {
        get(target, key) {
          if (key === 'remove') return removeOrLeave(target);
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
    const deletion = (signal: AbortSignal, seen: (remote: Remote) => Remote): Promise<OperationResult<unknown>> =>
      rig.operations.run(rig.request('delete', { signal }), (operation) => {
        const onRemote = operation.use.bind(operation);
        const use: Operation['use'] = (work, options) =>
          onRemote((remote, attempt) => work(seen(remote), attempt), options);
        return deleteAll(Object.assign(operation, { use }), at('/many'));
      });
    await assert.rejects(deletion(ender.signal, leaving), withCode('client_gone'));
    const left = readdirSync(join(rig.folder, 'many')).length;
    assert.ok(left > 200 && left < files, String(left));
    const { type, path, status, errorMessage } = await rig.newest();
    assert.deepEqual([type, path, status], ['delete', '/many', 'failed']);
    assert.match(errorMessage ?? '', /entries of \/many had been deleted before/);
    const { result } = await deletion(new AbortController().signal, (remote) => remote);
    assert.deepEqual(result, { path: '/many', deleted: left + 1 });
    assert.equal(existsSync(join(rig.folder, 'many')), false);
    assert.equal((await rig.newest()).status, 'success');
  });

  test('a session that died unnoticed is replaced unless something was moved', async () => {
    let runs = 0;
    const lost = new GatewayError('connection_lost', 'gone');
    const dieOnce = (commits: boolean) =>
      rig.operations.run(rig.request('mkdir'), (operation) =>
        operation.use(async (remote, attempt) => {
          await remote.stat(await at('/')(remote));
          if (commits) attempt.committed();
          if (++runs === 1) throw lost;
          return runs;
        }),
      );
    assert.equal((await dieOnce(false)).result, 2);
    runs = 0;
    await assert.rejects(dieOnce(true), (error) => error === lost);
    assert.equal(runs, 1);
  });
});

describe('leftovers', () => {
  test('leftovers of a dead node are found by their names and removed; those of a live one are kept', async () => {
    const other = await openTest(rig.url);
    const { tag } = other.leftovers;
    mkdirSync(join(rig.folder, 'crash'));
    await other.leftovers.expectFolder('sandbox', '/crash');
    await other.leftovers.expectFolder('sandbox', '/never-made');
    const mine = `.ftg-${rig.storage.leftovers.tag}-0123456789ab.mine`;
    for (const name of [`.ftg-${tag}-0123456789ab.x`, mine, 'kept.txt'])
      writeFileSync(join(rig.folder, 'crash', name), '');
    await other.close();
    rig.sweeper.start();
    await eventually(() => readdirSync(join(rig.folder, 'crash')).length === 2, 'the sweep');
    assert.deepEqual(readdirSync(join(rig.folder, 'crash')).sort(), [mine, 'kept.txt']);
    await eventually(async () => (await rig.storage.leftovers.claimDead()).length === 0, 'the notes to go');
  });

  test('a name that could not be removed at once is removed soon', async () => {
    const leftovers = rig.sweeper.for(rig.connection);
    writeFileSync(join(rig.folder, 'soon'), '');
    leftovers.removeLater(await at('/soon')(undefined as never));
    await eventually(() => !existsSync(join(rig.folder, 'soon')), 'the removal');
    const name = leftovers.temporaryName('x.txt');
    assert.match(name, new RegExp(`^\\.ftg-${rig.storage.leftovers.tag}-[0-9a-f]{12}\\.x\\.txt$`));
  });
});
