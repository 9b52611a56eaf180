import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { startEmbedded } from '../../src/storage/embedded/embedded.js';
import { canReach, chooseRunAs, giveTo } from '../../src/storage/embedded/run-as.js';
import { makeTempFolder } from './databases.js';

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

describe('the user of the embedded PostgreSQL', () => {
  let folder: string;
  beforeEach(async () => (folder = await makeTempFolder()));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is never root', async () => {
    const server = await startEmbedded(path.join(folder, 'data'), () => undefined);
    const status = await readFile(`/proc/${server.pid ?? 0}/status`, 'utf8');
    await server.stop();
    const ids = /^Uid:\s+(\d+)\s+(\d+)/m.exec(status)?.slice(1).map(Number);
    assert.deepEqual(ids, isRoot ? [NOBODY, NOBODY] : [process.getuid?.(), process.getuid?.()]);
    if (isRoot) assert.match(status, /^Groups:\s*$/m, 'none of the groups of root either');
  });

  it('receives none of our secrets', async () => {
    if (process.platform !== 'linux') return;
    process.env['GATEWAY_MASTER_KEY'] = 'never-passed-on';
    const server = await startEmbedded(path.join(folder, 'data'), () => undefined);
    delete process.env['GATEWAY_MASTER_KEY'];
    // The server, its own processes, and its watchdog.
    const related: string[] = [];
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const [stat, line] = await Promise.all(
        ['stat', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
      );
      const parent = / \(.*\) \w (\d+)/.exec(` ${stat}`)?.[1];
      const isWatchdog = line?.split('\0').slice(-3).join(' ') === `watchdog ${server.pid} `;
      if (pid === String(server.pid) || parent === String(server.pid) || isWatchdog) related.push(pid);
    }
    const environments = await Promise.all(
      related.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')),
    );
    await server.stop();
    assert.ok(related.length >= 3, related.join(' '));
    for (const environment of environments) {
      assert.doesNotMatch(environment, /never-passed-on/);
      const names = environment.split('\0').map((entry) => entry.split('=')[0] ?? '');
      const others = names.filter((name) => !/^($|PATH$|LANG|LC_|TZ$|HOME$|LD_LIBRARY_PATH$|PG|PWD$)/.test(name));
      assert.deepEqual(others, []);
    }
    assert.ok(environments.some((environment) => environment.includes('PATH=')));
  });

  it('reaches a folder only when every folder above lets it pass', async () => {
    const inner = path.join(folder, 'outer', 'inner');
    await mkdir(inner, { recursive: true });
    assert.ok(await canReach(inner, NOBODY));
    await chmod(path.join(folder, 'outer'), 0o700);
    assert.ok(!(await canReach(inner, NOBODY)));
    assert.ok(await canReach(inner, process.getuid?.() ?? 0), 'its owner passes');
    await chmod(path.join(folder, 'outer'), 0o711);
    assert.ok(await canReach(inner, NOBODY), 'reading the folder above is not needed');
  });

  if (!isRoot) {
    it('is the user of the gateway where that is not root', async () => {
      const runAs = await chooseRunAs(folder);
      assert.equal(runAs.owner, undefined);
      assert.deepEqual(runAs.command('p', ['a']), { program: 'p', args: ['a'], ids: {} });
    });
    return;
  }

  it('is an unprivileged user where root starts the gateway in a place that others reach', async () => {
    const runAs = await chooseRunAs(folder);
    assert.equal(runAs.owner, NOBODY);
    assert.deepEqual(runAs.command('p', ['a']), { program: 'p', args: ['a'], ids: { uid: NOBODY, gid: NOBODY } });
  });

  it('gets a whole folder, but not what links in it lead to', async () => {
    const outside = path.join(folder, 'outside');
    const given = path.join(folder, 'given');
    const inner = path.join(given, 'deep', 'file');
    await mkdir(path.dirname(inner), { recursive: true });
    await writeFile(inner, '');
    await writeFile(outside, '');
    await symlink(outside, path.join(given, 'link'));
    await giveTo(given, NOBODY);
    for (const file of [given, path.dirname(inner), inner]) assert.equal((await lstat(file)).uid, NOBODY, file);
    assert.equal((await lstat(outside)).uid, 0);
  });
});
