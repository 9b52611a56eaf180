import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { GatewayError } from '../../src/base/errors.js';
import { StartupError, type Storage } from '../../src/storage/storage.js';
import { makeTempFolder, openTest, SUCCESS, until, upload } from './databases.js';
import { fillDisk } from './full-disk.js';

const run = promisify(execFile);
const isAway = (error: unknown): boolean => error instanceof GatewayError && error.code === 'database_away';

// A file system of a chosen size needs root; without root, only the error is tested (lost-connections.test.ts).
if (process.getuid?.() === 0) {
  describe('an embedded database whose disk is full', () => {
    let folder: string;
    let filler: string;
    let dataDir: string;
    let storage: Storage;
    const said: string[] = [];
    const accountId = randomUUID();
    const begun: string[] = [];

    before(async () => {
      folder = await makeTempFolder();
      const disk = path.join(folder, 'disk');
      await mkdir(disk);
      await run('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=0755', 'tmpfs', disk]);
      [filler, dataDir] = [path.join(disk, 'filler'), path.join(disk, 'data')];
      storage = await openTest('', {
        dataDir,
        log: (_level, message, facts) => void said.push(`${message} ${JSON.stringify(facts)}`),
      });
    });
    after(async () => {
      await storage.close();
      await run('umount', [path.join(folder, 'disk')]);
      await rm(folder, { recursive: true });
    });

    const transfer = async (): Promise<void> => {
      const item = storage.history.begin(upload(accountId, { filename: 'x'.repeat(1500) }));
      begun.push(item.id);
      await item.finish(SUCCESS);
    };
    const writtenWhole = async (): Promise<void> => {
      await until(async () => (storage.history.queuedRows === 0 ? true : undefined), 'the rows to be written');
      const { total, transfers } = await storage.history.list(accountId, { limit: 1000, offset: 0 });
      assert.equal(total, begun.length);
      assert.deepEqual(new Set(transfers.map((item) => item.id)), new Set(begun.slice(-1000)));
    };

    it('refuses with 503 and a reason, loses nothing, and continues when there is room', async () => {
      await transfer();
      await fillDisk(filler);
      await assert.rejects(
        async () => {
          for (let count = 0; count < 900; count++) await transfer();
        },
        (error: unknown) => isAway(error) && String(error).includes('no room left'),
      );
      assert.ok(
        said.some((line) => line.includes('takes no writes: disk full')),
        said.join('\n'),
      );
      await assert.rejects(storage.ready(), /takes no writes: disk full/);
      await rm(filler);
      await writtenWhole();
      const isReady = (): Promise<true | undefined> =>
        storage
          .ready()
          .then(() => true as const)
          .catch(() => undefined);
      await until(isReady, 'it to be ready again');
    });

    it('a server that is killed meanwhile restarts, and nothing is lost', async () => {
      const lockFile = path.join(dataDir, 'postgres-18', 'postmaster.pid');
      const pid = Number((await readFile(lockFile, 'utf8')).split('\n')[0]);
      await fillDisk(filler);
      process.kill(pid, 'SIGKILL');
      await assert.rejects(async () => {
        for (let count = 0; count < 900; count++) await transfer();
      }, isAway);
      await rm(filler);
      await writtenWhole();
      await until(
        async () => said.some((line) => line.startsWith('the embedded PostgreSQL runs again')) || undefined,
        'the restart to be said',
      );
    });

    it('a gateway that starts meanwhile reports the reason, and starts when there is room', async () => {
      await storage.close();
      await fillDisk(filler);
      await assert.rejects(openTest('', { dataDir }), (error: unknown) => {
        assert.ok(error instanceof StartupError);
        assert.match(error.message, /does not start: its disk is full/);
        assert.ok(!error.message.includes('\n'));
        return true;
      });
      await rm(filler);
      storage = await openTest('', { dataDir });
      await writtenWhole();
    });
  });
}
