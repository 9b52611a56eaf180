/** Mirrors (`deleteExtra`) and moves whose source shows less than it has: nothing is deleted because of it. */
import assert from 'node:assert/strict';
import { rename, utimes } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { behindProxy, type Remote } from '../faults/rig.js';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { startTogether } from '../support/together.js';
import { ended, filesOf, type JobView, run } from './support.js';

type Coded = JobView & { readonly errorCode: string | null };

describe('mirrors of a source that shows less than it has', () => {
  let target: TestServer;
  const sources: Remote[] = [];
  let gateway: TestAccount;
  let folders = 0;

  before(async () => {
    const entries = ['vsftpd', 'proftpd'].map((name) => FTP_SERVERS.find((entry) => entry.name.startsWith(name)));
    const [sftp, ...ftp] = await startTogether([
      (SFTP_SERVERS[1] ?? assert.fail()).start(),
      ...entries.map((entry) => (entry ?? assert.fail('no such server')).start()),
    ]);
    target = sftp ?? assert.fail();
    for (const [index, server] of ftp.entries()) sources.push(await behindProxy(server, `ftp-${index}`));
    gateway = await openAccount({
      connections: [
        { id: 'target', name: 'target', ...target.connection },
        ...sources.map(({ connection }) => connection),
      ],
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all(sources.flatMap(({ proxy, server }) => [proxy.stop(), server.stop()]));
    await target?.stop();
  });

  const FILES = 60;
  async function lay(server: TestServer): Promise<string> {
    const root = `${server.base ?? ''}/mirrored-${++folders}`;
    for (let number = 0; number < FILES; number++) {
      const file = `${root}/${number % 2 === 0 ? '' : 'below/'}file-${number}.txt`;
      await server.disk.write(file, `content ${number}`);
      // A file as young as a job may have been created since.
      await utimes(`${baseOf(server)}${file}`, 1_700_000_000, 1_700_000_000);
    }
    return root;
  }

  const baseOf = ({ disk }: TestServer): string =>
    String((disk as unknown as { readonly root?: string }).root ?? assert.fail());

  const mirror = (index: number, root: string, more: object = {}): object => ({
    type: 'sync',
    deleteExtra: true,
    source: { connectionId: `ftp-${index}`, path: root },
    destination: { connectionId: 'target', path: `/mirror-of-${index}${root}` },
    ...more,
  });
  const standing = async (index: number, root: string): Promise<number> =>
    (await target.disk.files(`/mirror-of-${index}${root}`)).length;

  for (const index of [0, 1]) {
    const named = index === 0 ? 'vsftpd' : 'ProFTPD';
    for (const lines of [0, 5, 25]) {
      test(`listings of ${named} that end cleanly after ${lines} lines, all of them: nothing is deleted`, async () => {
        const { server, proxy } = sources[index] ?? assert.fail();
        const root = await lay(server);
        // It has no former run: only the second listing protects.
        await run(gateway.api, { ...mirror(index, root), type: 'copy', deleteExtra: undefined });
        assert.equal(await standing(index, root), FILES);
        proxy.dataLines = lines;
        const job = await run(gateway.api, mirror(index, root, { allowEmptySource: true }));
        proxy.dataLines = undefined;
        const shown = JSON.stringify([job, await filesOf(gateway.api, job.id)]);
        assert.equal(await standing(index, root), FILES, shown);
        assert.equal(job.counts.deleted, 0, shown);
      });
    }

    test(`an archive, and a page of the tree, of ${named}: one listing that ends early leaves nothing out`, async () => {
      const { server, proxy } = sources[index] ?? assert.fail();
      const root = await lay(server);
      const page = { query: { path: root, recursive: 'true', limit: '1000' } };
      for (let whole = 0; whole < 4; whole++) {
        const cut = proxy.cutDataLines(5, whole);
        const listed = await gateway.api.get(`/api/list/ftp-${index}`, page);
        assert.equal(listed.status, 200, listed.text);
        assert.equal(cut(), 1, `listing ${whole + 1} of a page is cut`);
        assert.equal((listed.json['files'] as unknown[]).length, FILES + 1, `a page, listing ${whole + 1} cut`);
      }
      for (let whole = 0; whole < 2; whole++) {
        const cut = proxy.cutDataLines(5, whole);
        const archive = await gateway.api.get(`/api/download/ftp-${index}`, { query: { path: root, format: 'zip' } });
        assert.equal(archive.status, 200, archive.text);
        assert.equal(cut(), 1, `listing ${whole + 1} of an archive is cut`);
        const names = new Set(archive.text.match(/file-\d+\.txt/g));
        assert.equal(names.size, FILES, `an archive, listing ${whole + 1} cut`);
      }
    });

    test(`a folder of ${named} that is moved or deleted although its listings end early is not complete`, async () => {
      const { server, proxy } = sources[index] ?? assert.fail();
      for (const type of ['move', 'delete']) {
        const root = await lay(server);
        proxy.dataLines = 5;
        const job = await run(gateway.api, {
          type,
          source: { connectionId: `ftp-${index}`, path: root },
          ...(type === 'delete' ? {} : { destination: { connectionId: 'target', path: `/moved-${index}${root}` } }),
        });
        proxy.dataLines = undefined;
        const left = await server.disk.files(root);
        const shown = JSON.stringify([job, left.length]);
        // Listed repeatedly, a folder is emptied in the end, or the job says that it was not.
        if (left.length > 0) assert.notEqual(job.state, 'succeeded', shown);
        if (type === 'move') {
          const moved = await target.disk.files(`/moved-${index}${root}`);
          assert.equal(moved.length + left.length, FILES, shown);
        }
      }
    });
  }

  test('an empty source, and one that lost more than half of its files, need allowEmptySource', async () => {
    const { server } = sources[0] ?? assert.fail();
    const root = await lay(server);
    const order = mirror(0, root);
    assert.equal((await run(gateway.api, order)).state, 'succeeded');
    const base = baseOf(server);
    await rename(`${base}${root}`, `${base}${root}-away`);
    await server.disk.write(`${root}/other/x.txt`, 'x');

    const lost = (await run(gateway.api, order)) as Coded;
    assert.deepEqual([lost.errorCode, lost.counts.deleted], ['source_suspicious', 0], JSON.stringify(lost));
    assert.match(lost.error ?? '', /holds 1 files, and at the last run it held 60/);
    assert.equal(await standing(0, root), FILES + 1);
    const again = await gateway.api.post(`/api/jobs/${lost.id}/retry`, {});
    assert.equal(again.status, 202, again.text);
    const retried = (await ended(gateway.api, (again.json['job'] as JobView).id)) as Coded;
    assert.deepEqual([retried.errorCode, retried.counts.deleted], ['source_suspicious', 0], JSON.stringify(retried));
    const dry = (await run(gateway.api, { ...order, dryRun: true })) as Coded;
    assert.equal(dry.errorCode, 'source_suspicious', JSON.stringify(dry));

    const allowed = await run(gateway.api, { ...order, allowEmptySource: true });
    assert.deepEqual([allowed.state, allowed.counts.deleted], ['succeeded', FILES], JSON.stringify(allowed));
    assert.equal(await standing(0, root), 1);
    // From then on that is what the source had at its last run.
    assert.equal((await run(gateway.api, order)).state, 'succeeded');

    await rename(`${base}${root}/other`, `${base}${root}-other`);
    const empty = (await run(gateway.api, order)) as Coded;
    assert.deepEqual([empty.errorCode, empty.counts.deleted], ['source_suspicious', 0], JSON.stringify(empty));
    assert.match(empty.error ?? '', /no file/);
    assert.equal(await standing(0, root), 1);
  });

  test('the same for a schedule', async () => {
    const { server } = sources[0] ?? assert.fail();
    const root = await lay(server);
    const made = await gateway.api.post('/api/schedules', {
      name: 'mirror',
      cron: '@yearly',
      timeZone: 'UTC',
      isActive: false,
      job: mirror(0, root),
    });
    assert.equal(made.status, 201, made.text);
    const { id } = made.json['schedule'] as { readonly id: string };
    const runNow = async (): Promise<Coded> => {
      const answer = await gateway.api.post(`/api/schedules/${id}/run`, {});
      assert.equal(answer.status, 202, answer.text);
      return (await ended(gateway.api, (answer.json['job'] as JobView).id)) as Coded;
    };
    assert.equal((await runNow()).state, 'succeeded');
    const base = baseOf(server);
    await rename(`${base}${root}/below`, `${base}${root}-below`);
    await rename(`${base}${root}/file-0.txt`, `${base}${root}-file-0.txt`);
    const job = await runNow();
    assert.deepEqual([job.errorCode, job.counts.deleted], ['source_suspicious', 0], JSON.stringify(job));
    assert.equal(await standing(0, root), FILES);
  });
});
