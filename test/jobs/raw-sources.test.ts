/** Jobs whose source has a name that is not UTF-8: the folder of these bytes is meant, and no other one. */
import assert from 'node:assert/strict';
import { chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { startTogether } from '../support/together.js';
import { begin, ended, type JobView, look, run } from './support.js';

interface Sourced extends JobView {
  readonly source: { readonly connectionId: string; readonly path: string; readonly rawName?: string };
}

/** Two folders that look the same as text. */
const [FOLDER, NEIGHBOUR] = ['m\xfcll', 'm\xfbll'];
const SHOWN = 'm\ufffdll';
const FILES = ['a.txt', 't\xe9.txt', 'sub/deep/b.txt', 's\xfcb/c.txt'];

const base64 = (name: string): string => Buffer.from(name, 'latin1').toString('base64');

describe('jobs whose source has a name that is not UTF-8', () => {
  let sshd: TestSshd;
  let ftp: FtpServer;
  let gateway: TestAccount;

  before(async () => {
    [sshd, ftp] = await startTogether([startSshd(), startVsftpd()]);
    const local = { host: '127.0.0.1', defaultPath: '/' };
    const { port, username, password } = ftp;
    const privateKey = readFileSync(sshd.clientKeyFile, 'utf8');
    const shell = { port: sshd.port, username: sshd.username, rootPath: sshd.files, privateKey };
    gateway = await openAccount({
      connections: [
        { ...local, ...shell, id: 'sftp', name: 'SFTP', type: 'sftp' },
        { ...local, id: 'ftp', name: 'FTP', type: 'ftp', port, username, password, tls: 'none' },
        {
          id: 's3',
          name: 'S3',
          type: 's3',
          endpoint: 'http://127.0.0.1:1',
          bucket: 'none',
          region: 'none',
          accessKeyId: 'none',
          secretAccessKey: 'none',
        },
      ],
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([sshd?.stop(), ftp?.stop()]);
  });

  const rootOf = (connection: string): string => (connection === 'sftp' ? sshd.files : ftp.folder);
  const onDisk = (connection: string, name: string): Buffer => Buffer.from(`${rootOf(connection)}/${name}`, 'latin1');
  const namesIn = (connection: string, name: string): string[] =>
    readdirSync(onDisk(connection, name), { encoding: 'latin1' }).sort();

  function lay(connection: string, root: string): void {
    const { uid, gid } = statSync(rootOf(connection));
    rmSync(onDisk(connection, root), { recursive: true, force: true });
    for (const name of [FOLDER, NEIGHBOUR].flatMap((folder) => FILES.map((file) => `${root}/${folder}/${file}`))) {
      const parts = name.split('/');
      for (let depth = 1; depth < parts.length; depth++) {
        const folder = onDisk(connection, parts.slice(0, depth).join('/'));
        mkdirSync(folder, { recursive: true });
        chownSync(folder, uid, gid);
      }
      writeFileSync(onDisk(connection, name), name);
      chownSync(onDisk(connection, name), uid, gid);
    }
  }

  for (const connection of ['sftp', 'ftp'] as const) {
    const sourceOf = (root: string): Sourced['source'] => ({
      connectionId: connection,
      path: `/${root}/${SHOWN}`,
      rawName: base64(FOLDER),
    });

    test(`a delete on ${connection}: its folder goes, the one that looks like it stays, and the job shows which`, async () => {
      lay(connection, 'gone');
      const source = sourceOf('gone');
      const job = (await run(gateway.api, { type: 'delete', source })) as Sourced;
      assert.deepEqual([job.state, job.counts.deleted], ['succeeded', FILES.length], JSON.stringify(job));
      assert.deepEqual(job.source, source);
      assert.deepEqual(namesIn(connection, 'gone'), [NEIGHBOUR]);
      const unnamed = await run(gateway.api, { type: 'delete', source: { ...source, rawName: undefined } });
      assert.deepEqual([unnamed.state, namesIn(connection, 'gone')], ['failed', [NEIGHBOUR]]);
    });

    test(`a delete on ${connection} of a folder below it, by the bytes from the first such name on`, async () => {
      lay(connection, 'below');
      const source = { connectionId: connection, path: `below/${SHOWN}/sub`, rawName: base64(`${FOLDER}/sub`) };
      const job = (await run(gateway.api, { type: 'delete', source })) as Sourced;
      assert.deepEqual([job.state, job.counts.deleted], ['succeeded', 1], JSON.stringify(job));
      assert.deepEqual(job.source, { ...source, path: `/below/${SHOWN}/sub` });
      assert.deepEqual(namesIn(connection, `below/${FOLDER}`), ['a.txt', 's\xfcb', 't\xe9.txt']);
    });

    test(`a copy and a move from ${connection}, and a retry of what failed`, async () => {
      lay(connection, 'moves');
      const other = connection === 'sftp' ? 'ftp' : 'sftp';
      const source = sourceOf('moves');
      const destination = { connectionId: other, path: `/from-${connection}` };
      const copy = await run(gateway.api, { type: 'copy', source, destination });
      assert.deepEqual([copy.state, copy.counts.done], ['succeeded', FILES.length], JSON.stringify(copy));
      assert.equal(readFileSync(onDisk(other, `from-${connection}/a.txt`), 'utf8'), `moves/${FOLDER}/a.txt`);
      for (const name of ['sub', 's\xfcb', 't\xe9.txt'])
        rmSync(onDisk(other, `from-${connection}/${name}`), { recursive: true });
      const move = await run(gateway.api, { type: 'move', source, destination, onConflict: 'fail' });
      assert.deepEqual([move.state, move.counts.done], ['partly_failed', FILES.length - 1], JSON.stringify(move));
      assert.deepEqual(namesIn(connection, `moves/${FOLDER}`), ['a.txt']);
      rmSync(onDisk(other, `from-${connection}/a.txt`));
      const answer = await gateway.api.post(`/api/jobs/${move.id}/retry`, {});
      const again = (await ended(gateway.api, (answer.json['job'] as JobView).id)) as Sourced;
      assert.deepEqual([again.state, again.counts.done], ['succeeded', 1], JSON.stringify(again));
      assert.deepEqual(again.source, source);
      assert.deepEqual(namesIn(connection, 'moves'), [NEIGHBOUR]);
    });

    test(`a schedule on ${connection} shows it, and its job works on it`, async () => {
      lay(connection, 'nightly');
      const job = { type: 'delete', source: sourceOf('nightly') };
      const made = await gateway.api.post('/api/schedules', { name: 'x', cron: '@yearly', job });
      assert.equal(made.status, 201, made.text);
      const { id, job: shown } = made.json['schedule'] as { id: string; job: Sourced };
      assert.deepEqual(shown.source, job.source);
      const { json } = await gateway.api.post(`/api/schedules/${id}/run`, {});
      const done = await ended(gateway.api, (json['job'] as JobView).id);
      assert.deepEqual([done.state, namesIn(connection, 'nightly')], ['succeeded', [NEIGHBOUR]]);
    });
  }

  test('bytes that do not fit are refused, as by the other endpoints', async () => {
    const refused = async (source: object, why: RegExp): Promise<void> => {
      const answer = await gateway.api.post('/api/jobs', { type: 'delete', source });
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [400, 'bad_path'], answer.text);
      assert.match(answer.text, why);
    };
    const path = `/in/${SHOWN}`;
    await refused({ connectionId: 'sftp', path, rawName: base64('other') }, /source\.rawName is not the name/);
    await refused({ connectionId: 'ftp', path, rawName: '???' }, /source\.rawName must be padded base64/);
    await refused({ connectionId: 's3', path, rawName: base64(FOLDER) }, /source\.rawName is for SFTP and FTP/);
  });

  test('a destination has none: new names are UTF-8', async () => {
    const places = {
      source: { connectionId: 'sftp', path: '/in' },
      destination: { connectionId: 'ftp', path: `/${SHOWN}`, rawName: base64(FOLDER) },
    };
    const strict = { headers: { Prefer: 'handling=strict' } };
    const answer = await gateway.api.post('/api/jobs', { type: 'copy', ...places }, strict);
    assert.deepEqual([answer.status, answer.headers['x-error-code']], [400, 'bad_request'], answer.text);
    assert.match(answer.text, /destination\.rawName is no field/);
    const { id } = await begin(gateway.api, { type: 'copy', ...places, dryRun: true });
    const { destination } = (await look(gateway.api, id)) as JobView & { readonly destination: object };
    assert.deepEqual(destination, { connectionId: 'ftp', path: `/${SHOWN}` });
  });
});
