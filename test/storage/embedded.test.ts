import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { startEmbedded } from '../../src/storage/embedded/embedded.js';
import { isAlive } from '../../src/storage/embedded/processes.js';
import { StartupError } from '../../src/storage/storage.js';
import { makeTempFolder, openTest, startChild, SUCCESS, until, upload, withSql } from './databases.js';
import { ACCOUNT, accountOf } from './provisioned.js';

const MAJOR = 18;
const STRAY_FILES = 10_000;
const silent = (): void => undefined;

describe('the embedded PostgreSQL', () => {
  let folder: string;
  let dataDir: string;
  beforeEach(async () => {
    folder = await makeTempFolder();
    dataDir = path.join(folder, 'data');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const serverPid = async (): Promise<number> =>
    Number((await readFile(path.join(dataDir, `postgres-${MAJOR}`, 'postmaster.pid'), 'utf8')).split('\n')[0]);

  it('starts, keeps written rows, and stops without a trace', async () => {
    const first = await openTest('', { dataDir, masterKey: '' });
    await first.provision([ACCOUNT]);
    const pid = await serverPid();
    assert.ok(await isAlive(pid));
    await first.close();
    assert.ok(!(await isAlive(pid)));
    assert.deepEqual((await readdir(dataDir)).sort(), ['master.key', `postgres-${MAJOR}`, `postgres-${MAJOR}.log`]);

    const second = await openTest('', { dataDir, masterKey: '' });
    assert.equal((await accountOf(second)).email, 'ops@example.com');
    await second.close();
  });

  it('listens on no network and refuses a connection without its password', async () => {
    const server = await startEmbedded(dataDir, silent);
    const settings = await withSql(
      server.url,
      (sql) => sql`
      select name, setting from pg_settings where name in ('listen_addresses', 'fsync', 'synchronous_commit') order by name`,
    );
    assert.deepEqual(
      settings.map((row) => row['setting'] as string),
      ['on', '', 'on'],
    );
    const url = new URL(server.url);
    url.password = 'wrong';
    await assert.rejects(
      withSql(url.href, (sql) => sql`select 1`),
      /password authentication failed/,
    );
    await server.stop();
  });

  it('serves by TCP and a password where there are no Unix sockets', async () => {
    const server = await startEmbedded(dataDir, silent, { transport: 'tcp' });
    assert.match(server.url, /^postgres:\/\/gateway:[^@]{32}@127\.0\.0\.1:\d+\/postgres$/);
    const storage = await openTest(server.url);
    await storage.ready();
    await storage.close();
    await server.stop();
  });

  it('refuses a second gateway on the same folder; the first one continues undisturbed', async () => {
    const storage = await openTest('', { dataDir });
    // It does not try for an hour.
    const child = startChild('hold', { url: '', dataDir, connectTimeoutMs: 3_600_000 });
    const line = await child.line(() => true);
    assert.match(line, new RegExp(`^error StartupError: dataDir: another gateway \\(process ${process.pid}\\)`));
    assert.equal(await child.exit, 1);
    await storage.ready();
    await storage.close();
  });

  it('if two gateways start at once on an empty folder, one serves, and the other gives the reason why not', async () => {
    const children = [startChild('hold', { url: '', dataDir }), startChild('hold', { url: '', dataDir })];
    const lines = await Promise.all(children.map((child) => child.line(() => true)));
    const [open, refused] = lines[0]?.startsWith('open') === true ? lines : [...lines].reverse();
    assert.match(open ?? '', /^open [0-9a-f]{8}$/);
    assert.match(refused ?? '', /^error StartupError: dataDir: another gateway/);
    for (const child of children) child.process.stdin?.end();
    await Promise.all(children.map((child) => child.exit));
    assert.ok(!(await readdir(dataDir)).some((name) => name.includes('.new')));
  });

  it('removes the half-made folder of a killed gateway although its initdb still writes there for a while', async () => {
    const gone = spawn('true');
    await once(gone, 'exit');
    const draft = path.join(dataDir, `postgres-${MAJOR}.new-${gone.pid}`, 'data');
    await mkdir(draft, { recursive: true });
    await chmod(dataDir, 0o711);
    const begun = path.join(draft, 'file1');
    const writer = spawn('sh', ['-c', `for i in $(seq ${STRAY_FILES}); do : > "${draft}/file$i" || exit; done`], {
      stdio: 'ignore',
    });
    await until(async () => (existsSync(begun) ? true : undefined), 'the writer');
    const storage = await openTest('', { dataDir });
    await storage.close();
    if (writer.exitCode === null) await once(writer, 'exit');
    assert.ok(!(await readdir(dataDir)).some((name) => name.includes('.new')));
  });

  it('a killed gateway leaves no server behind, and the next one ends its transfers at once', async () => {
    const accountId = '00000000-0000-7000-8000-000000000001';
    const child = startChild('write', { url: '', dataDir }, accountId);
    await child.line((line) => line.startsWith('done '));
    const pid = await serverPid();
    await until(async () => (child.lines.length > 300 ? true : undefined), 'items');
    await child.line((line) => line.startsWith('stored '));
    child.process.kill('SIGKILL');
    await child.exit;
    await until(async () => ((await isAlive(pid)) ? undefined : true), 'the watchdog to stop the server');

    const storage = await openTest('', { dataDir });
    const acknowledged = child.lines.filter((line) => line.startsWith('done ')).length;
    const { total } = await storage.history.list(accountId, { limit: 1, offset: 0, status: 'success' });
    assert.ok(total >= acknowledged, `${total} of ${acknowledged} acknowledged`);
    const failed = await until(async () => {
      const { transfers } = await storage.history.list(accountId, { limit: 1, offset: 0, status: 'failed' });
      return transfers[0];
    }, 'the running transfer to be failed');
    assert.equal(`pending ${failed.id}`, child.lines[0]);
    await storage.close();
  });

  it('stops a server whose gateway and watchdog are both dead', async () => {
    const child = startChild('hold', { url: '', dataDir });
    await child.line((line) => line.startsWith('open'));
    const pid = await serverPid();
    const watchdog = await watchdogOf(pid);
    process.kill(watchdog, 'SIGKILL');
    child.process.kill('SIGKILL');
    await child.exit;
    assert.ok(await isAlive(pid));
    const storage = await openTest('', { dataDir });
    assert.ok(!(await isAlive(pid)));
    await storage.close();
  });

  it('starts despite a lock file whose process id belongs to another program now', async () => {
    await (await openTest('', { dataDir })).close();
    await writeFile(path.join(dataDir, `postgres-${MAJOR}`, 'postmaster.pid'), `${process.pid}\n${dataDir}\n1\n5432\n`);
    await (await openTest('', { dataDir })).close();
  });

  it('is started again when its server dies', async () => {
    const said: string[] = [];
    const storage = await openTest('', { dataDir, log: (_level, message) => void said.push(message) });
    const accountId = '00000000-0000-7000-8000-000000000002';
    await storage.history.begin(upload(accountId)).finish(SUCCESS);
    const pid = await serverPid();
    process.kill(pid, 'SIGKILL');
    await until(async () => (said.includes('the embedded PostgreSQL runs again') ? true : undefined), 'the restart');
    assert.notEqual(await serverPid(), pid);
    await storage.history.begin(upload(accountId)).finish(SUCCESS);
    assert.equal(await storage.history.count(accountId), 2);
    assert.ok(said.includes('the embedded PostgreSQL ended; it is started again'));
    await storage.close();
  });

  it('works below a folder too deep for a socket', async () => {
    const deep = path.join(folder, 'd'.repeat(60), 'e'.repeat(60), 'data');
    const storage = await openTest('', { dataDir: deep });
    await storage.ready();
    assert.ok(!existsSync(path.join(deep, `postgres-${MAJOR}.socket`)));
    await storage.close();
  });

  it('refuses a folder of another major version', async () => {
    await mkdir(path.join(dataDir, 'postgres-17'), { recursive: true });
    await assert.rejects(openTest('', { dataDir }), (error: unknown) => {
      assert.ok(error instanceof StartupError);
      assert.match(error.message, /PostgreSQL 17 .*PostgreSQL 18.*database\.url/);
      return true;
    });
  });

  it('runs below a folder that only its owner can enter, or says in one line what to do', async () => {
    await chmod(folder, 0o700);
    const opened = await openTest('', { dataDir }).catch((error: unknown) => error);
    if (opened instanceof Error) {
      assert.ok(opened instanceof StartupError);
      assert.match(opened.message, /dataDir below folders of mode 0755, or set database\.url/);
      return;
    }
    const storage = opened as Awaited<ReturnType<typeof openTest>>;
    await storage.ready();
    await storage.close();
    // The same data in a place that others can reach.
    await chmod(folder, 0o755);
    await (await openTest('', { dataDir })).close();
  });
});

async function watchdogOf(serverPid: number): Promise<number> {
  for (const name of await readdir('/proc')) {
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (command.includes('watchdog') && command.endsWith(`\0${serverPid}\0`)) return Number(name);
  }
  throw new Error('no watchdog');
}
