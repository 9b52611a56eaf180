import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import ssh2, { type SFTPWrapper } from 'ssh2';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { startSandbox } from '../../src/sandbox/server.js';

/** Uses ssh2's own client, so that none of the gateway's SFTP code is involved. */
describe('the sandbox', () => {
  let home: string;
  let folder: string;
  let sandbox: Awaited<ReturnType<typeof startSandbox>>;
  const login = { username: 'guest', password: 'pass word' };
  const options = () => ({ folder, host: '127.0.0.1', port: 0, ...login, hostKeyFile: join(home, 'keys', 'host_key') });
  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'ftg-sandbox-'));
    folder = join(home, 'files');
    sandbox = await startSandbox(options());
  });
  after(async () => {
    await sandbox.close();
    rmSync(home, { recursive: true });
  });

  async function client(credentials = login): Promise<ssh2.Client> {
    const connection = new ssh2.Client();
    await new Promise<void>((done, fail) => {
      connection.on('ready', done).on('error', fail);
      connection.connect({ host: '127.0.0.1', port: sandbox.port, ...credentials });
    });
    return connection;
  }

  async function withSftp<T>(work: (sftp: SFTPWrapper) => Promise<T>): Promise<T> {
    const connection = await client();
    const sftp = await new Promise<SFTPWrapper>((done, fail) => {
      connection.sftp((error, opened) => (error === undefined ? done(opened) : fail(error)));
    });
    try {
      return await work(sftp);
    } finally {
      connection.end();
    }
  }

  /** The outcome of one callback. */
  const call = <T>(run: (done: (error: Error | null | undefined, result: T) => void) => void): Promise<T> =>
    new Promise((done, fail) => run((error, result) => (error ? fail(error) : done(result))));
  const status = (code: number) => (error: unknown) => (error as { code?: number }).code === code;

  test('only the right name and password get in', async () => {
    await assert.rejects(client({ ...login, password: 'wrong' }), /authentication methods failed/);
    await assert.rejects(client({ ...login, username: 'root' }), /authentication methods failed/);
    (await client()).end();
  });

  test('the host key is made once and is readable by the owner only', async () => {
    const file = options().hostKeyFile;
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(join(home, 'keys')), ['host_key']);
    const again = await startSandbox(options());
    assert.equal(again.hostKeyFingerprint, sandbox.hostKeyFingerprint);
    assert.match(again.hostKeyFingerprint, /^SHA256:[A-Za-z0-9+/]{43}$/);
    await again.close();
  });

  test('no other user of the machine can read its content', () =>
    withSftp(async (sftp) => {
      const modeOf = (name: string): number => statSync(join(folder, name)).mode & 0o777;
      await call<void>((done) => sftp.mkdir('/own', (error) => done(error ?? undefined, undefined)));
      await call<void>((done) => sftp.writeFile('/own/f', 'x', { mode: 0o666 }, (error) => done(error, undefined)));
      await call<void>((done) => sftp.chmod('/own/f', 0o644, (error) => done(error ?? undefined, undefined)));
      assert.deepEqual(['', 'own', 'own/f'].map(modeOf), [0o700, 0o700, 0o600]);
    }));

  test('neither commands nor shells nor forwarding', async () => {
    const connection = await client();
    await assert.rejects(
      call((done) => connection.exec('id', done)),
      /Unable to exec/,
    );
    await assert.rejects(
      call((done) => connection.shell(done)),
      /Unable to/,
    );
    await assert.rejects(call((done) => connection.forwardOut('127.0.0.1', 1, '127.0.0.1', sandbox.port, done)));
    connection.end();
  });

  test('files and folders', () =>
    withSftp(async (sftp) => {
      assert.equal(await call<string>((done) => sftp.realpath('.', done)), '/');
      await call<void>((done) => sftp.mkdir('/d', (error) => done(error, undefined)));
      await call<void>((done) => sftp.writeFile('/d/f', 'hello', (error) => done(error ?? undefined, undefined)));
      await call<void>((done) => sftp.appendFile('/d/f', ' there', (error) => done(error ?? undefined, undefined)));
      assert.equal((await call<Buffer>((done) => sftp.readFile('/d/f', done))).toString(), 'hello there');
      const stats = await call<ssh2.Stats>((done) => sftp.stat('/d/f', done));
      assert.deepEqual([stats.size, stats.isFile()], [11, true]);
      await call<void>((done) =>
        sftp.setstat('/d/f', { mode: 0o600, atime: 5, mtime: 6 }, (error) => done(error ?? undefined, undefined)),
      );
      assert.equal(statSync(join(folder, 'd/f')).mtimeMs, 6000);
      assert.equal(statSync(join(folder, 'd/f')).mode & 0o777, 0o600);
      writeFileSync(join(folder, 'd/g'), 'there already');
      await assert.rejects(
        call<void>((done) => sftp.rename('/d/f', '/d/g', (error) => done(error ?? undefined, undefined))),
        status(4),
      );
      assert.equal(readFileSync(join(folder, 'd/g'), 'utf8'), 'there already');
      await call<void>((done) => sftp.rename('/d/f', '/d/h', (error) => done(error ?? undefined, undefined)));
      const names = await call<ssh2.FileEntry[]>((done) => sftp.readdir('/d', (error, list) => done(error, list)));
      assert.deepEqual(names.map(({ filename }) => filename).sort(), ['g', 'h']);
      await assert.rejects(
        call<void>((done) => sftp.rmdir('/d', (error) => done(error ?? undefined, undefined))),
        status(4),
      );
      for (const name of ['g', 'h'])
        await call<void>((done) => sftp.unlink(`/d/${name}`, (error) => done(error ?? undefined, undefined)));
      await call<void>((done) => sftp.rmdir('/d', (error) => done(error ?? undefined, undefined)));
      await assert.rejects(
        call((done) => sftp.stat('/d', done)),
        status(2),
      );
      await assert.rejects(
        call((done) => sftp.opendir('/none', done)),
        status(2),
      );
    }));

  test('folders of usual depth, and no deeper', () =>
    withSftp(async (sftp) => {
      const deep = (levels: number): string => '/x'.repeat(levels);
      await assert.rejects(
        call((done) => sftp.stat(deep(64), done)),
        status(2),
      );
      await assert.rejects(
        call((done) => sftp.stat(deep(65), done)),
        status(4),
      );
    }));

  test('nothing outside the folder, by any path or link', () =>
    withSftp(async (sftp) => {
      writeFileSync(join(home, 'secret'), 'secret');
      mkdirSync(join(folder, 'in'), { recursive: true });
      symlinkSync('../secret', join(folder, 'link'));
      symlinkSync('..', join(folder, 'up'));
      symlinkSync('../not-yet', join(folder, 'dangling'));
      // "/../secret" is "/secret" inside, which does not exist.
      await assert.rejects(
        call((done) => sftp.readFile('/../secret', done)),
        status(2),
      );
      await assert.rejects(
        call((done) => sftp.readFile('in/../../secret', done)),
        status(2),
      );
      for (const path of ['/link', '/up/secret']) {
        await assert.rejects(
          call((done) => sftp.readFile(path, done)),
          status(3),
        );
        await assert.rejects(
          call((done) => sftp.stat(path, done)),
          status(3),
        );
        await assert.rejects(
          call<void>((done) => sftp.writeFile(path, 'x', (error) => done(error ?? undefined, undefined))),
          status(3),
        );
      }
      await assert.rejects(
        call<void>((done) => sftp.writeFile('/dangling', 'x', (error) => done(error ?? undefined, undefined))),
        status(3),
      );
      await assert.rejects(
        call((done) => sftp.readdir('/up', done)),
        status(3),
      );
      await assert.rejects(
        call<void>((done) => sftp.mkdir('/up/made', (error) => done(error ?? undefined, undefined))),
        status(3),
      );
      await assert.rejects(
        call<void>((done) => sftp.unlink('/up/secret', (error) => done(error ?? undefined, undefined))),
        status(3),
      );
      await assert.rejects(
        call<void>((done) => sftp.rename('/up/secret', '/got', (error) => done(error ?? undefined, undefined))),
        status(3),
      );
      await assert.rejects(
        call<void>((done) => sftp.symlink('/in', '/new-link', (error) => done(error ?? undefined, undefined))),
        status(8),
      );
      assert.equal(readFileSync(join(home, 'secret'), 'utf8'), 'secret');
      assert.equal(existsSync(join(home, 'not-yet')), false);
    }));

  test('a client that leaves with open files leaves no descriptor behind', async () => {
    writeFileSync(join(folder, 'held'), 'x');
    const held = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return statSync(`/proc/self/fd/${fd}`).ino === statSync(join(folder, 'held')).ino;
        } catch {
          return false;
        }
      }).length;
    await withSftp(async (sftp) => {
      await call((done) => sftp.open('/held', 'r', done));
      await call((done) => sftp.open('/held', 'r+', done));
      assert.equal(held(), 2);
    });
    await eventually(() => held() === 0, 'both are closed');
  });

  test('closing ends the sessions and frees the port', async () => {
    const other = await startSandbox({ ...options(), port: await freePort() });
    const connection = new ssh2.Client();
    await new Promise<void>((done, fail) => {
      connection.on('ready', done).on('error', fail);
      connection.connect({ host: '127.0.0.1', port: other.port, ...login });
    });
    connection.on('error', () => undefined);
    const ended = once(connection, 'close');
    await other.close();
    await ended;
    const reused = net.createServer().listen(other.port, '127.0.0.1');
    await new Promise((listening) => reused.on('listening', listening));
    reused.close();
  });
});
