/**
 * Watched folders that copy: every file is copied before its event is sent, and files that cannot be copied are left
 * alone.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { PROTOCOLS, startRemotes } from '../faults/rig.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { withSql } from '../storage/databases.js';
import { hasCode } from '../../src/base/errors.js';
import type { WatchedFolder } from '../../src/contract/watched-folder.js';
import { parseRemotePath, ROOT } from '../../src/remotes/path.js';
import type { Remote } from '../../src/remotes/remote.js';
import { endWith } from '../../src/remotes/whole.js';
import type { Delivery } from '../../src/contract/delivery.js';
import type { FolderSettings } from '../../src/watch/settings.js';
import { eventually } from '../support/eventually.js';
import { Bench } from './support/bench.js';
import { startReceiver, type EventBody, type Receiver } from './support/receiver.js';

interface CopiedFile {
  readonly path: string;
  readonly size: number;
  readonly copy?: {
    readonly connectionId: string;
    readonly path?: string;
    readonly size?: number;
    readonly skipped?: boolean;
    readonly error?: string;
  };
}

const BYTES_PER_EVENT = 6000;
const RULES = ['replace', 'skip', 'newer', 'rename', 'fail'] as const;

suite('watched folders with copyTo', () => {
  let postgres: PostgresServer;
  let remotes: Awaited<ReturnType<typeof startRemotes>>;
  let receiver: Receiver;
  let bench: Bench;
  let folders = 0;

  before(async () => {
    [postgres, remotes, receiver] = await Promise.all([startPostgres(), startRemotes(), startReceiver()]);
    const { connection } = remotes.sftp;
    bench = await Bench.open({
      databaseUrl: postgres.url,
      connections: [
        ...[connection, remotes.ftp.connection, remotes.s3.connection],
        { ...connection, id: 'again', name: 'The same login' },
        { ...connection, id: 'short', name: 'Short-lived' },
        { ...remotes.ftp.server.connection, id: 'direct', name: 'Without the proxy' },
        ...PROTOCOLS.map((id) => ({
          ...remotes[id].server.connection,
          id: `${id}-direct`,
          name: `${id} by its own name`,
        })),
      ],
      watcher: { settleMs: 0 },
      webhooks: { retryMs: Array.from({ length: 60 }, () => 200), filesPerEvent: 40, bytesPerEvent: BYTES_PER_EVENT },
    });
  });
  after(async () => {
    await bench?.close();
    await receiver?.close();
    await remotes?.stop();
    await postgres?.stop();
  });

  /** A new folder with a baseline, and its target beside it. */
  const routed = async (
    input: Omit<FolderSettings, 'copyTo'> & { readonly copyTo?: Partial<NonNullable<FolderSettings['copyTo']>> } = {},
    from: 'sftp' | 'ftp' | 's3' = 'sftp',
  ) => {
    const name = `r${++folders}`;
    const { disk } = remotes[from].server;
    await disk.write(`/${name}/.keep`, '');
    const copyTo = { connectionId: 'ftp', path: `/to-${name}`, ...input.copyTo };
    const settings = { webhookUrl: `${receiver.url}/${name}`, ...input, copyTo };
    const folder = await bench.watch(from, `/${name}`, settings);
    const put = (file: string, content = file) => disk.write(`/${name}/${file}`, content);
    const to = copyTo.connectionId in remotes ? (copyTo.connectionId as 'ftp') : 'sftp';
    const target = remotes[to].server.disk;
    return { name, folder, put, disk, target, to: copyTo.path };
  };
  /** The FTP server is away while `isDown` is true. */
  const cutOff = (): void => {
    remotes.ftp.proxy.isDown = true;
    remotes.ftp.proxy.fail('reset');
  };
  const eventsOf = (folder: WatchedFolder): Promise<readonly Delivery[]> =>
    bench.events.deliveries.list(bench.accountId, { watchedFolderId: folder.id }, { limit: 100, offset: 0 });
  const latestOf = async (folder: WatchedFolder) =>
    bench.storage.events.outgoing.find((await eventsOf(folder))[0]?.id ?? '');
  const toldOf = (name: string): EventBody[] =>
    receiver.received.filter(({ path }) => path.endsWith(`/${name}`)).map(({ body }) => body);
  const filesOf = (name: string): readonly CopiedFile[] => toldOf(name).flatMap(({ data }) => data.files);
  /** Checks, and waits until this number of files has been reported. */
  const eventFiles = async (folder: WatchedFolder, name: string, files: number): Promise<readonly CopiedFile[]> => {
    await bench.settle(folder);
    await bench.until(() => filesOf(name).length >= files, `${files} files are reported`);
    return [...filesOf(name)].sort((a, b) => (a.path < b.path ? -1 : 1));
  };
  const copiesIn = async (name: string, connectionId = 'ftp') => {
    const { transfers } = await bench.storage.history.list(bench.accountId, {
      type: 'copy',
      connectionId,
      limit: 100,
      offset: 0,
    });
    return transfers.filter(({ path }) => path.includes(name));
  };

  for (const [from, to] of [
    ['sftp', 'ftp'],
    ['sftp', 's3'],
    ['ftp', 'sftp'],
    ['s3', 'sftp'],
  ] as const) {
    test(`${from} to ${to}: a file is copied, then reported with its path, then deleted`, async () => {
      const { folder, name, put, disk, target } = await routed(
        { recursive: true, afterDelivery: 'delete', copyTo: { connectionId: to } },
        from,
      );
      let stoodAtDelivery = 0;
      receiver.respond = ({ path, body }, response) => {
        if (!path.endsWith(`/${name}`)) return void response.writeHead(204).end();
        const places = (body.data.files as readonly CopiedFile[]).map(({ copy }) => target.read(copy?.path ?? ''));
        void Promise.allSettled(places).then((reads) => {
          stoodAtDelivery += reads.filter(({ status }) => status === 'fulfilled').length;
          response.writeHead(204).end();
        });
      };
      await put('a.csv', 'one');
      await put('deep/ü b.csv', 'x'.repeat(300_000));
      const files = await eventFiles(folder, name, 2);
      assert.deepEqual(
        files.map(({ path, copy }) => [path, copy]),
        [
          [`/${name}/a.csv`, { connectionId: to, path: `/to-${name}/a.csv`, size: 3 }],
          [`/${name}/deep/ü b.csv`, { connectionId: to, path: `/to-${name}/deep/ü b.csv`, size: 300_000 }],
        ],
      );
      assert.equal((await target.read(`/to-${name}/a.csv`)).toString(), 'one');
      await bench.until(async () => (await eventsOf(folder))[0]?.afterAction === 'done', 'what follows the delivery');
      assert.equal(stoodAtDelivery, 2, 'the copies were there when the receiver got the event');
      const exact = from === 'sftp' || from === 's3';
      const left = (await disk.files(`/${name}`)).filter((file) => file.endsWith('.csv'));
      if (exact) assert.deepEqual(left, []);
      const items = await copiesIn(name, to);
      assert.deepEqual(items.map(({ status, fileSize }) => [status, fileSize]).sort(), [
        ['success', 3],
        ['success', 300_000],
      ]);
    });
  }

  test('without a webhook files are copied all the same, and the action after the delivery follows the copy', async () => {
    const { folder, put, target, disk, to, name } = await routed({
      webhookUrl: null,
      afterDelivery: 'move',
      moveTo: 'done',
    });
    await put('a.txt');
    await bench.settle(folder);
    await bench.until(async () => (await eventsOf(folder))[0]?.afterAction === 'done', 'the move');
    assert.deepEqual(await target.files(to), [`${to}/a.txt`]);
    assert.deepEqual((await disk.files(`/${name}`)).sort(), [`/${name}/.keep`, `/${name}/done/a.txt`]);
    const [event] = await eventsOf(folder);
    assert.deepEqual([event?.state, event?.attempts, event?.copyState], ['delivered', 0, 'done']);
  });

  test('a template names the copies by the time of the detection', async () => {
    const { folder, name, put } = await routed({ copyTo: { filename_template: '{date}_{uuid}.{ext}' } });
    await put('a.csv');
    const [file] = await eventFiles(folder, name, 1);
    assert.match(file?.copy?.path ?? '', new RegExp(`^/to-${name}/\\d{4}-\\d\\d-\\d\\d_[0-9a-f-]{36}\\.csv$`));
  });

  suite('an existing file at the target', () => {
    for (const rule of ['replace', 'skip', 'newer', 'rename', 'fail'] as const) {
      test(rule, async () => {
        const { folder, name, put, target, to, disk } = await routed({
          afterDelivery: 'delete',
          copyTo: { onConflict: rule },
        });
        await target.write(`${to}/a.txt`, 'theirs');
        await put('a.txt', 'ours!');
        const [file] = await eventFiles(folder, name, 1);
        const [path, other] = [`${to}/a.txt`, `${to}/a (2).txt`];
        const copied = { connectionId: 'ftp', size: 5 };
        const place = {
          replace: { ...copied, path },
          // The same second as the copy, or a little newer: it was written first.
          newer: undefined,
          rename: { ...copied, path: other },
          skip: { connectionId: 'ftp', path, skipped: true },
          fail: undefined,
        }[rule];
        if (place !== undefined) assert.deepEqual(file?.copy, place);
        if (rule === 'fail') assert.match(file?.copy?.error ?? '', /exists/);
        const isCopied = file?.copy?.size === 5;
        if (rule === 'newer') assert.equal(file?.copy?.skipped === true, !isCopied);
        const kept = (await target.read(path)).toString();
        assert.equal(kept, isCopied && rule !== 'rename' ? 'ours!' : 'theirs');
        // Files that were not copied are neither deleted nor moved.
        if (isCopied)
          await bench.until(async () => !(await disk.files(`/${name}`)).includes(`/${name}/a.txt`), 'it goes');
        else {
          assert.deepEqual((await latestOf(folder))?.files, []);
          assert.equal((await disk.read(`/${name}/a.txt`)).toString(), 'ours!');
        }
      });
    }
  });

  test('a file that cannot be copied is reported with the reason and left alone; the others are copied', async () => {
    const { folder, name, put, disk, target, to } = await routed({ afterDelivery: 'delete' });
    // The path of the copy is a folder.
    await target.write(`${to}/b.txt/x`, 'in the way');
    for (const file of ['a.txt', 'b.txt', 'c.txt']) await put(file);
    const files = await eventFiles(folder, name, 3);
    assert.deepEqual(
      files.map(({ copy }) => copy?.size),
      [5, undefined, 5],
    );
    assert.match(files[1]?.copy?.error ?? '', /folder/);
    await bench.until(async () => (await eventsOf(folder))[0]?.afterAction === 'done', 'what follows the delivery');
    assert.deepEqual((await disk.files(`/${name}`)).sort(), [`/${name}/.keep`, `/${name}/b.txt`]);
    const [event] = await eventsOf(folder);
    assert.equal(event?.copiesFailed, 1);
    const copies = await bench.events.deliveries.copies(bench.accountId, event?.id ?? '');
    assert.deepEqual(
      copies.map(({ state }) => state),
      ['done', 'failed', 'done'],
    );
    const items = await copiesIn(name);
    assert.deepEqual(items.map(({ status }) => status).sort(), ['failed', 'success', 'success']);
  });

  for (const protocol of PROTOCOLS) {
    test(`${protocol}: a folder whose target is itself by another name keeps its files, with any action after the delivery`, async () => {
      const target = { connectionId: `${protocol}-direct` };
      for (const onConflict of protocol === 'sftp' ? RULES : (['replace'] as const)) {
        for (const after of [{ afterDelivery: 'delete' }, { afterDelivery: 'move', moveTo: 'done' }] as const) {
          if (onConflict !== 'replace' && after.afterDelivery === 'move') continue;
          const path = `/r${folders + 1}`;
          const { folder, name, put, disk } = await routed(
            { ...after, copyTo: { ...target, path, onConflict } },
            protocol,
          );
          await put('a.txt');
          const shown = `${onConflict}, ${after.afterDelivery}`;
          const [file] = await eventFiles(folder, name, 1);
          assert.match(file?.copy?.error ?? '', /onto itself/, shown);
          await eventually(async () => (await latestOf(folder))?.afterAction !== 'pending', `the end of ${shown}`);
          assert.deepEqual(await disk.files(path), [`${path}/.keep`, `${path}/a.txt`], shown);
          assert.equal((await disk.read(`${path}/a.txt`)).toString(), 'a.txt', shown);
        }
      }
    });
  }

  test('a file that disappears before it is copied is reported as missing', async () => {
    const { folder, name, put } = await routed();
    cutOff();
    await put('a.txt');
    await bench.settle(folder);
    await bench.until(
      async () => ((await eventsOf(folder))[0]?.nextAttemptAt ?? null) !== null,
      'the copy is to be tried',
    );
    await bench.remove('sftp', `/${name}/a.txt`);
    remotes.ftp.proxy.isDown = false;
    await bench.until(() => filesOf(name).length === 1, 'it is reported');
    assert.match(filesOf(name)[0]?.copy?.error ?? '', /exist/);
  });

  test('a target that is away and comes back: all files arrive, once, and no event is sent before', async () => {
    const { folder, name, put, target, to } = await routed();
    cutOff();
    const names = Array.from({ length: 12 }, (_, number) => `${number}.txt`);
    for (const file of names) await put(file);
    await bench.settle(folder);
    const rounds = (): Promise<boolean> =>
      withSql(postgres.url, async (sql) => {
        const rows = await sql`select from deliveries where folder_id = ${folder.id} and copy_rounds >= 3`;
        return rows.count > 0;
      });
    await bench.until(rounds, 'three rounds');
    assert.deepEqual(toldOf(name), []);
    assert.equal((await eventsOf(folder))[0]?.copyState, 'pending');
    remotes.ftp.proxy.isDown = false;
    await bench.until(() => filesOf(name).length === names.length, 'all are reported');
    assert.deepEqual((await target.files(to)).sort(), names.map((file) => `${to}/${file}`).sort());
    const items = await copiesIn(name);
    assert.equal(items.length, names.length);
    assert.ok(items.every(({ status }) => status === 'success'));
  });

  test('a deleted connection ends the waiting copies, and the event says so', async () => {
    const { folder, name, put, disk } = await routed({
      copyTo: { connectionId: 'short', path: '/gone' },
      afterDelivery: 'delete',
    });
    await withSql(postgres.url, (sql) => sql`delete from connections where id = 'short'`);
    await bench.storage.connections.find(bench.accountId, 'short');
    await put('a.txt');
    await bench.settle(folder);
    await bench.until(() => filesOf(name).length === 1, 'it is reported');
    const { copy } = filesOf(name)[0] ?? {};
    if (copy?.error !== undefined) {
      assert.match(copy.error, /no connection short/);
      assert.equal((await disk.read(`/${name}/a.txt`)).toString(), 'a.txt');
    }
  });

  suite('copies of a crash', () => {
    /**
     * As if the node had died between the copy and its record: `content` is at the target, and the row has only its
     * path.
     */
    const afterCrash = async (onConflict: 'rename' | 'skip' | 'fail' | 'newer', content: string) => {
      const { folder, name, put, target, to } = await routed({ copyTo: { onConflict } });
      await put('a.txt', 'ours!');
      cutOff();
      await bench.settle(folder);
      await bench.until(async () => (await eventsOf(folder)).length === 1, 'the event');
      const path = parseRemotePath(`${to}/a.txt`, ROOT, 'path');
      const size = content.length;
      await over('direct', async (writing) => {
        const { modifiedAt } = await over('sftp', (reading) =>
          reading.stat(parseRemotePath(`/${name}/a.txt`, ROOT, 'path')),
        );
        const writer = await writing.write(path, { size, modifiedAt });
        await endWith(writer, Buffer.from(content));
        await writer.commit({ size, modifiedAt });
      });
      await withSql(
        postgres.url,
        (sql) => sql`
          update route_copies set target_path = ${path}, size = ${size}
          where event_id = (select id from deliveries where folder_id = ${folder.id})`,
      );
      remotes.ftp.proxy.isDown = false;
      await bench.until(() => filesOf(name).length === 1, `${onConflict}: it is reported`);
      return { copy: filesOf(name)[0]?.copy, to, files: (await target.files(to)).sort() };
    };
    const over = async <R>(id: string, work: (remote: Remote) => Promise<R>): Promise<R> =>
      bench.remotes.use(
        await bench.connection(id),
        { signal: new AbortController().signal, leftovers: bench.leftovers },
        work,
      );

    for (const rule of ['rename', 'skip', 'fail', 'newer'] as const) {
      test(`${rule}: it is recognized, and nothing is copied twice`, async () => {
        const { copy, to, files } = await afterCrash(rule, 'ours!');
        assert.deepEqual(copy, { connectionId: 'ftp', path: `${to}/a.txt`, size: 5 });
        assert.deepEqual(files, [`${to}/a.txt`]);
      });
    }
    test('another client’s file of the same size is not mistaken for it', async () => {
      const { copy, to, files } = await afterCrash('rename', 'their');
      assert.deepEqual(copy, { connectionId: 'ftp', path: `${to}/a (2).txt`, size: 5 });
      assert.deepEqual(files, [`${to}/a (2).txt`, `${to}/a.txt`]);
    });
  });

  test('an event stays within its limits with the texts about the copies', async () => {
    const long = `/${'l'.repeat(120)}`;
    const { folder, name, put } = await routed({ copyTo: { path: long, filename_template: '{name}-{uuid}.{ext}' } });
    for (let number = 0; number < 60; number++) await put(`file-${number}.txt`);
    await eventFiles(folder, name, 60);
    const sizes = receiver.received
      .filter(({ path }) => path.endsWith(`/${name}`))
      .map(({ text }) => Buffer.byteLength(text));
    assert.ok(sizes.length > 1);
    assert.ok(Math.max(...sizes) <= BYTES_PER_EVENT, String(sizes));
    assert.ok(filesOf(name).every(({ copy }) => copy?.size !== undefined));
  });

  test('a deleted folder copies nothing more', async () => {
    const { folder, put, target, to } = await routed();
    cutOff();
    await put('a.txt');
    await bench.settle(folder);
    await bench.service.remove(bench.accountId, folder.id);
    const idle = (): Promise<boolean> =>
      withSql(
        postgres.url,
        async (sql) => (await sql`select from deliveries where folder_id = ${folder.id}`).count === 0,
      );
    await bench.until(idle, 'its events are gone');
    remotes.ftp.proxy.isDown = false;
    assert.deepEqual(await target.files(to).catch(() => []), []);
  });

  test('copyTo is removed meanwhile: the event is sent without copies, and its files stay', async () => {
    const { folder, name, put, disk } = await routed({ afterDelivery: 'delete' });
    cutOff();
    await put('a.txt');
    await bench.settle(folder);
    const signal = new AbortController().signal;
    await bench.service.edit(bench.accountId, folder.id, { copyTo: null }, { rights: 'copy_too', signal });
    await bench.until(() => filesOf(name).length === 1, 'it is reported');
    remotes.ftp.proxy.isDown = false;
    assert.match(filesOf(name)[0]?.copy?.error ?? '', /copyTo was taken/);
    assert.deepEqual((await latestOf(folder))?.files, []);
    assert.equal((await disk.read(`/${name}/a.txt`)).toString(), 'a.txt');
  });

  test('another copyTo starts copies that wait for their next round at once; another name starts none', async () => {
    const { folder, name, put } = await routed();
    cutOff();
    await put('a.txt');
    await bench.settle(folder);
    const [event] = await eventsOf(folder);
    assert.ok(event !== undefined);
    await withSql(postgres.url, async (sql) => {
      const isPutOff = (): Promise<boolean> =>
        sql.begin<boolean>(async (tx) => {
          const { count } = await tx`
            update public_jobs.job set start_after = now() + interval '1 hour'
            where name = 'route-copy' and singleton_key = ${event.id} and state < 'active'`;
          await tx`update deliveries set next_attempt_at = now() + interval '1 hour' where id = ${event.id} and ${count} = 1`;
          return count === 1;
        });
      await bench.until(isPutOff, 'its next round is far away');
      const edit = (changes: object): Promise<unknown> => {
        const signal = new AbortController().signal;
        return bench.service.edit(bench.accountId, folder.id, changes, { rights: 'copy_too', signal });
      };
      await edit({ name: 'another name' });
      const waiting = await sql`
        select from public_jobs.job where singleton_key = ${event.id} and state < 'active'
          and start_after > now() + interval '50 minutes'`;
      assert.equal(waiting.count, 1);
      await edit({ copyTo: { connectionId: 's3', path: `/elsewhere-${name}` } });
    });
    await bench.until(() => filesOf(name).length === 1, 'it is reported');
    remotes.ftp.proxy.isDown = false;
    const [file] = filesOf(name);
    assert.deepEqual([file?.copy?.connectionId, file?.copy?.path], ['s3', `/elsewhere-${name}/a.txt`]);
  });

  test('a receiver that wants nothing more ends the deliveries, but not the copies', async () => {
    const { folder, name, put, target, to, disk } = await routed({ afterDelivery: 'delete' });
    receiver.respond = ({ path }, response) => response.writeHead(path.endsWith(`/${name}`) ? 410 : 204).end();
    await put('a.txt');
    await eventFiles(folder, name, 1);
    const isEnded = async (): Promise<boolean> =>
      (await bench.service.get(bench.accountId, folder.id)).deliveriesEndedAt !== null;
    await bench.until(isEnded, 'the deliveries end');
    await put('b.txt');
    await bench.settle(folder);
    await bench.until(async () => (await eventsOf(folder))[0]?.copyState === 'done', 'b.txt is copied');
    assert.deepEqual((await target.files(to)).sort(), [`${to}/a.txt`, `${to}/b.txt`]);
    assert.deepEqual(
      (await eventsOf(folder)).map(({ state, afterAction }) => [state, afterAction]),
      [
        ['cancelled', 'none'],
        ['cancelled', 'none'],
      ],
    );
    assert.equal((await disk.read(`/${name}/b.txt`)).toString(), 'b.txt', 'no event was sent for it');
  });

  test('the files of an event without a task are copied, and it is not sent before', async () => {
    const { folder, name, put } = await routed();
    cutOff();
    await put('a.txt');
    await bench.settle(folder);
    const [event] = await eventsOf(folder);
    const id = event?.id ?? '';
    const lose = async (): Promise<boolean> => {
      const jobs = await withSql(
        postgres.url,
        (sql) =>
          sql`delete from public_jobs.job where name = 'route-copy' and singleton_key = ${id} and state < 'active'`,
      );
      return jobs.count > 0;
    };
    await bench.until(lose, 'its job is lost');
    await withSql(
      postgres.url,
      (sql) => sql`update deliveries set next_attempt_at = now() - interval '2 minutes' where id = ${id}`,
    );
    await bench.storage.events.outgoing.recoverForgotten();
    assert.deepEqual(toldOf(name), []);
    remotes.ftp.proxy.isDown = false;
    await bench.until(() => filesOf(name).length === 1, 'it is reported');
    assert.equal(filesOf(name)[0]?.copy?.size, 5);
  });

  suite('files that would return', () => {
    const refusedBy = async (create: Promise<unknown>, text: RegExp): Promise<void> => {
      await assert.rejects(create, (error) => hasCode(error, 'bad_request') && text.test(error.message));
    };
    const at = async (path: string, copyTo: FolderSettings['copyTo'], more: FolderSettings = {}, from = 'sftp') => {
      await remotes.sftp.server.disk.write(`${path}/.keep`, '');
      return bench.watch(from, path, { ...more, copyTo });
    };

    test('copies into the folder or below it are refused, also through another connection of the same login', async () => {
      for (const connectionId of ['sftp', 'again']) {
        for (const path of ['/self', '/self/', '/self/below', '/self/../self/x']) {
          await refusedBy(at('/self', { connectionId, path }), /must lead out/);
        }
      }
      await refusedBy(at('/self', { connectionId: 'again', path: '/self' }, { recursive: true }), /must lead out/);
      // A folder beside it, and the same path on another server, are accepted.
      await at('/self', { connectionId: 'sftp', path: '/self-2' });
      await at('/self', { connectionId: 'ftp', path: '/self' });
    });

    test('a circle over several folders is refused, whichever folder closes it', async () => {
      await at('/ring/a', { connectionId: 'sftp', path: '/ring/b' });
      const b = await at('/ring/b', { connectionId: 'ftp', path: '/ring-c' });
      await refusedBy(at('/ring/b', { connectionId: 'again', path: '/ring/a' }), /circle/);
      const signal = new AbortController().signal;
      const edit = (changes: FolderSettings) =>
        bench.service.edit(bench.accountId, b.id, changes, { rights: 'copy_too', signal });
      await refusedBy(edit({ copyTo: { connectionId: 'sftp', path: '/ring' } }), /circle/);
      await refusedBy(
        edit({ copyTo: null, webhookUrl: receiver.url, afterDelivery: 'move', moveTo: '/ring/a' }),
        /circle/,
      );
      await edit({ copyTo: { connectionId: 'sftp', path: '/elsewhere' } });
    });

    test('if two folders close a circle at the same time, one is refused', async () => {
      const both = await Promise.allSettled([
        at('/twin/a', { connectionId: 'sftp', path: '/twin/b' }),
        at('/twin/b', { connectionId: 'sftp', path: '/twin/a' }),
      ]);
      assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    });
  });

  test('impossible settings are refused before anything is stored', async () => {
    const refused = async (
      copyTo: FolderSettings['copyTo'],
      code: 'bad_request' | 'bad_path' | 'unknown_connection',
    ) => {
      await remotes.sftp.server.disk.write('/refused/.keep', '');
      await assert.rejects(bench.watch('sftp', '/refused', { copyTo }), (error) => hasCode(error, code));
    };
    await refused({ connectionId: 'ftp', path: '/x', filename_template: '{nope}' }, 'bad_request');
    await refused({ connectionId: 'ftp', path: '/x', filename_template: 'a/{name}' }, 'bad_path');
    await refused({ connectionId: 'ftp', path: '/../x' }, 'bad_path');
    await refused({ connectionId: 'nobody', path: '/x' }, 'unknown_connection');
  });
});
