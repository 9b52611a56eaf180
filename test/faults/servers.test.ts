/** Servers that restart, forget their idle clients, admit few sessions or change their identity, over HTTP. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { expectError, uploadRaw } from '../api/support.js';
import { SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import {
  contentOf,
  KIB,
  lastItemOf,
  leavesNothing,
  MIB,
  nothingPending,
  PROTOCOLS,
  startRemotes,
  TITLES,
  answerText,
  warmUp,
} from './rig.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { eventually } from '../support/eventually.js';
import { answered, despiteStalls } from '../support/stalls.js';
import { startTogether } from '../support/together.js';

const WAITING = 50;
const LIMITED = {
  maxsessions: 'OpenSSH with MaxSessions 1',
  maxstartups: 'OpenSSH with MaxStartups 1',
  max_clients: 'vsftpd with max_clients=2 (421)',
  max_per_ip: 'vsftpd with max_per_ip=1 (421)',
  '530': 'an FTP server that answers 530 to the third login',
} as const;
const STALL_MS = 3_000;
const SLOW_MS = 120;
const SLOW_BYTES = 512 * KIB;
const DISK_BYTES = 4 * MIB;

let remotes: Awaited<ReturnType<typeof startRemotes>>;
let limited: { ssh: TestSshd; startups: TestSshd; ftp: FtpServer; perAddress: FtpServer; scripted: ScriptedFtp };
let changing: { first: TestSshd; second: TestSshd; rekeying: TestSshd; tls: FtpServer; otherTls: FtpServer };
let small: { ssh: TestSshd; ftp: FtpServer };
let denying: TestServer;
let sshProxy: Proxy;
let tlsProxy: Proxy;
let gateway: TestGateway;
let atRest: number;
/** Open logins on the server that answers 530. */
let sessions = 0;

before(async () => {
  remotes = await startRemotes();
  const [ssh, startups, ftp, perAddress, scripted] = await startTogether([
    startSshd(['MaxSessions 1']),
    startSshd(['MaxStartups 1']),
    startVsftpd({ extra: ['max_clients=2'] }),
    startVsftpd({ extra: ['max_per_ip=1'] }),
    startScripted({
      PASS: (_password, visitor) => {
        if (sessions >= 2) return visitor.say('530 Too many users logged in, try again later.');
        sessions++;
        visitor.socket.once('close', () => sessions--);
        return visitor.usual();
      },
    }),
  ]);
  limited = { ssh, startups, ftp, perAddress, scripted };
  const [first, second, rekeying, tls, otherTls] = await startTogether([
    startSshd(),
    startSshd(),
    startSshd(['RekeyLimit 2M']),
    startVsftpd({ tls: 'explicit' }),
    startVsftpd({ tls: 'explicit' }),
  ]);
  changing = { first, second, rekeying, tls, otherTls };
  const [smallSsh, smallFtp] = await startTogether([startSshd(), startVsftpd()]);
  small = { ssh: smallSsh, ftp: smallFtp };
  for (const folder of [smallSsh.files, smallFtp.folder]) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=0777`, 'tmpfs', folder]);
  }
  denying = await (SFTP_SERVERS[0] ?? assert.fail()).start();
  sshProxy = await startProxy(first.port);
  // The address of data connections is encrypted, so they bypass the proxy.
  tlsProxy = await startProxy(tls.port);
  gateway = await startGateway({
    connections: [
      ...PROTOCOLS.map((protocol) => remotes[protocol].connection),
      ...PROTOCOLS.map((protocol) => ({
        ...remotes[protocol].connection,
        id: `${protocol}-slow`,
        name: `${protocol}-slow`,
        pool: { stallTimeoutMs: STALL_MS },
      })),
      sftp('maxsessions', ssh),
      sftp('maxstartups', startups),
      ftpLogin('max_clients', ftp),
      ftpLogin('max_per_ip', perAddress),
      ftpLogin('530', scripted),
      sftp('ssh', first, sshProxy.port),
      sftp('rekeying', rekeying),
      {
        ...ftpLogin('tls', tls),
        port: tlsProxy.port,
        tls: 'explicit',
        tlsCaFile: path.join(path.dirname(tls.folder), 'ca.pem'),
      },
      sftp('small-sftp', smallSsh),
      ftpLogin('small-ftp', smallFtp),
      { id: 'denying', name: 'Denying', ...denying.connection },
    ],
    config: {
      pools: {
        default: { idleTimeoutMs: 2_000, acquireTimeoutMs: 60_000 },
        hosts: {
          // Longer than it takes to change the server behind an open session.
          [`127.0.0.1:${sshProxy.port}`]: { idleTimeoutMs: 60_000 },
        },
      },
    },
  });
  atRest = await warmUp(gateway);
});

after(async () => {
  await gateway?.stop();
  await Promise.all([sshProxy?.stop(), tlsProxy?.stop()]);
  if (small !== undefined) execFileSync('umount', [small.ssh.files, small.ftp.folder]);
  const groups = [limited, changing, small].filter((group) => group !== undefined);
  const servers = groups.flatMap((group): Stoppable[] => Object.values(group));
  await Promise.all(servers.map((server) => server.stop()));
  await denying?.stop();
  await remotes?.stop();
});

interface Stoppable {
  stop(): Promise<void>;
}

function sftp(id: string, { port, files, username, clientKeyFile }: TestSshd, by = port): object {
  const login = { username, privateKeyFile: clientKeyFile, rootPath: files, defaultPath: '/' };
  return { id, name: id, type: 'sftp', host: '127.0.0.1', port: by, ...login };
}

function ftpLogin(id: string, { port, username, password }: Pick<FtpServer, 'port' | 'username' | 'password'>): object {
  return { id, name: id, type: 'ftp', host: '127.0.0.1', port, username, password, defaultPath: '/' };
}

const upload = (id: string, filename: string, content: Buffer | string): Promise<ApiAnswer> =>
  uploadRaw(gateway.api, id, { path: '/', filename }, content);

describe('each server in its own trouble', { concurrency: 6 }, () => {
  for (const protocol of PROTOCOLS) {
    describe(protocol, { concurrency: 1 }, () => {
      for (const fault of ['reset', 'end'] as const) {
        test(`${protocol}: idle sessions that the server closed (${fault}) are replaced unnoticed`, async () => {
          const { proxy } = remotes[protocol];
          const answers = await Promise.all(
            Array.from({ length: 12 }, (_, number) => upload(protocol, `warm-${number}`, 'warm')),
          );
          assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
          proxy.fail(fault);
          // At once: the gateway may not know of it yet.
          const next = await Promise.all(
            Array.from({ length: 12 }, (_, number) => upload(protocol, `idle-${number}`, `after ${fault} ${number}`)),
          );
          for (const answer of next) assert.equal(answer.status, 200, answerText(answer));
          for (let number = 0; number < 12; number++) {
            const stored = await remotes[protocol].server.disk.read(`/idle-${number}`);
            assert.equal(stored.toString(), `after ${fault} ${number}`);
          }
          held({
            area: 'Faults',
            what: `${TITLES[protocol]}: the server closes its idle sessions (${fault === 'reset' ? 'reset' : 'in good order'})`,
            done: '12 uploads at the same moment',
            held: 'all succeed on new sessions; clients notice nothing',
            tries: 12,
          });
        });
      }

      test(`${protocol}: the server is away while transfers run and sessions are idle, then it is back`, async () => {
        const { proxy, server } = remotes[protocol];
        const old = contentOf('old', 300 * KIB);
        await server.disk.write('/away.bin', old);
        assert.equal((await upload(protocol, 'warm-0', 'warm')).status, 200);
        proxy.arm('reset', 30, true);
        const running = Promise.all(
          Array.from({ length: 4 }, () => upload(protocol, 'away.bin', contentOf('new', 8 * MIB))),
        );
        await eventually(() => proxy.hasFailed, 'the server goes while they run');
        proxy.disarm();
        for (const answer of await running) assert.equal(answer.status, 502, answerText(answer));
        const meanwhile = await upload(protocol, 'away.bin', 'x');
        assert.equal(meanwhile.status, 502, answerText(meanwhile));
        assert.ok(
          ['unreachable', 'connection_lost'].includes(String(meanwhile.headers['x-error-code'])),
          answerText(meanwhile),
        );
        assert.ok((await server.disk.read('/away.bin')).equals(old), 'the old file stays');
        proxy.isDown = false;
        const back = await upload(protocol, 'away.bin', 'back');
        assert.equal(back.status, 200, answerText(back));
        assert.equal((await server.disk.read('/away.bin')).toString(), 'back');
        const hidden = async (): Promise<boolean> =>
          (await server.disk.files('/')).every((file) => /^\/(?:warm-\d+|idle-\d+|away\.bin)$/.test(file));
        await eventually(hidden, 'no hidden file stays');
        held({
          area: 'Faults',
          what: `${TITLES[protocol]}: the server restarts`,
          done: 'gone in the middle of 4 uploads, refusing connections for a while, then back',
          held: '502 meanwhile, the old file stays, the first request after it works, no hidden file stays',
          tries: 5,
        });
      });

      test('the server answers slowly: each piece is late, none too late', async () => {
        const { proxy, server } = remotes[protocol];
        const content = contentOf('slow', SLOW_BYTES);
        proxy.delayMs = SLOW_MS;
        try {
          await despiteStalls(async () => answered(await upload(`${protocol}-slow`, 'slow.bin', content)));
          const query = { path: '/slow.bin' };
          const received = await despiteStalls(async () =>
            answered(await gateway.api.get(`/api/download/${protocol}-slow`, { query })),
          );
          assert.ok(received.bytes.equals(content));
        } finally {
          proxy.delayMs = 0;
        }
        assert.ok((await server.disk.read('/slow.bin')).equals(content));
        held({
          area: 'Faults',
          what: `${TITLES[protocol]}: the server answers slowly`,
          done: 'each piece 120 ms late in both directions, from the login on; 512 KiB up and down',
          held: 'slow is no stall: both succeed, byte for byte',
          tries: 2,
        });
      });
    });
  }

  describe('few sessions, and 50 requests that need one', { concurrency: 2 }, () => {
    for (const [id, server] of Object.entries(LIMITED)) {
      test(`${server}: all are served`, async () => {
        const answers = await Promise.all(
          Array.from({ length: WAITING }, (_, number) =>
            uploadRaw(gateway.api, id, { path: '/', filename: `file-${number}` }, `content ${number}`),
          ),
        );
        for (const answer of answers) assert.equal(answer.status, 200, answerText(answer));
        const { json } = await gateway.api.get(`/api/list/${id}`);
        const sizes = (json['files'] as { name: string; size: number }[]).map(({ name, size }) => `${name} ${size}`);
        const wanted = Array.from({ length: WAITING }, (_, number) => `file-${number} ${`content ${number}`.length}`);
        assert.deepEqual(sizes.sort(), wanted.sort());
        held({
          area: 'Faults',
          what: `few sessions are admitted: ${server}`,
          done: '50 uploads at once',
          held: 'all are served in turn, none sees the refusal',
          tries: WAITING,
        });
      });
    }
  });

  describe('changes', { concurrency: 1 }, () => {
    test('another host key: the open session is still used, the next login is refused and stays refused', async () => {
      const list = (): Promise<ApiAnswer> => gateway.api.get('/api/list/ssh');
      assert.equal((await list()).status, 200);
      sshProxy.target = changing.second.port;
      // Open sessions belong to the server that was proven.
      assert.equal((await list()).status, 200);
      sshProxy.fail('reset');
      for (let tries = 0; tries < 2; tries++) {
        const answer = await list();
        expectError(answer, 'host_key_mismatch', /shows host key SHA256:\S+, but SHA256:\S+ is pinned/);
        // The row of a list may follow its answer.
        await eventually(async () => (await lastItemOf(gateway, 'ssh'))?.status === 'failed', 'the list has failed');
      }
      assert.doesNotMatch(await changing.second.log(), /Accepted|Postponed/, 'no login was tried there');
      sshProxy.target = changing.first.port;
      assert.equal((await list()).status, 200);
      // Nothing may be open in the end, and its idle session would be for long.
      sshProxy.fail('reset');
      held({
        area: 'Faults',
        what: 'SFTP: another host key',
        done: 'the server is replaced by another one while sessions are open',
        held: '502 host_key_mismatch with both fingerprints, no secret sent; the true server is used again',
        tries: 2,
      });
    });

    test('another certificate is refused', async () => {
      const list = (): Promise<ApiAnswer> => gateway.api.get('/api/list/tls');
      assert.equal((await list()).status, 200, (await list()).text);
      tlsProxy.target = changing.otherTls.port;
      tlsProxy.fail('reset');
      expectError(await list(), 'certificate_rejected', /certificate/);
      tlsProxy.target = changing.tls.port;
      assert.equal((await list()).status, 200);
      held({
        area: 'Faults',
        what: 'FTPS: another certificate',
        done: 'the server is replaced by one of another authority',
        held: '502 certificate_rejected; the true server is used again',
        tries: 1,
      });
    });

    test('session keys are renewed every 2 MiB during transfers in both directions', async () => {
      const content = contentOf('rekeyed', 24 * MIB);
      const round = async (name: string): Promise<void> => {
        const sent = await uploadRaw(gateway.api, 'rekeying', { path: '/', filename: name }, content);
        assert.equal(sent.status, 200, answerText(sent));
        assert.ok((await readFile(path.join(changing.rekeying.files, name))).equals(content));
        const received = await gateway.api.get('/api/download/rekeying', { query: { path: `/${name}` } });
        assert.equal(received.status, 200);
        assert.ok(received.bytes.equals(content));
      };
      await Promise.all(['a', 'b', 'c'].map(round));
      held({
        area: 'Faults',
        what: 'SFTP: session keys are renewed during transfers',
        done: 'RekeyLimit 2M; three uploads and downloads of 24 MiB at once',
        held: 'every byte arrives',
        tries: 6,
      });
    });

    for (const id of ['tls', 'denying']) {
      const title = id === 'tls' ? 'FTPS' : 'SFTP';
      test(`${title}: permission denied leaves no file and keeps the session`, async () => {
        const root = id === 'tls' ? changing.tls.folder : String(denying.connection['rootPath']);
        const folder = path.join(root, 'denied');
        execFileSync('mkdir', ['-m', '555', folder]);
        const answer = await uploadRaw(gateway.api, id, { path: '/denied', filename: 'f' }, 'x');
        expectError(answer, 'permission_denied', /denied|553|550|451/i);
        assert.equal(execFileSync('ls', ['-A', folder], { encoding: 'utf8' }), '');
        rmSync(folder, { recursive: true });
        assert.equal((await gateway.api.get(`/api/list/${id}`)).status, 200);
        held({
          area: 'Faults',
          what: `${title}: the server denies permission`,
          done: 'an upload into a folder that may not be written',
          held: '403 permission_denied in the words of the server; no file; the next request works',
          tries: 1,
        });
      });
    }

    for (const id of ['small-sftp', 'small-ftp'] as const) {
      const title = id === 'small-sftp' ? 'SFTP' : 'FTP';
      test(`${title}: the server's disk is full`, async () => {
        const folder = id === 'small-sftp' ? small.ssh.files : small.ftp.folder;
        assert.equal((await upload(id, 'kept.bin', 'old')).status, 200);
        const answer = await upload(id, 'kept.bin', contentOf('too large', DISK_BYTES + MIB));
        assert.equal(answer.status, 502, answerText(answer));
        assert.match(String(answer.headers['x-error-code']), /^(?:no_space|remote_failure)$/, answerText(answer));
        assert.equal((await lastItemOf(gateway, id))?.status, 'failed');
        await eventually(() => readdirSync(folder).join() === 'kept.bin', 'no hidden file stays');
        assert.equal((await readFile(path.join(folder, 'kept.bin'))).toString(), 'old');
        const fits = await upload(id, 'kept.bin', contentOf('fits', DISK_BYTES / 2));
        assert.equal(fits.status, 200, answerText(fits));
        held({
          area: 'Faults',
          what: `${title}: the server's disk is full`,
          done: 'an upload larger than the space that is left',
          held: '502 in the words of the server; the old file stays, no hidden file stays; what fits is taken',
          tries: 1,
        });
      });
    }
  });
});

test('nothing is left', async () => {
  assert.ok(await nothingPending(gateway));
  await leavesNothing(gateway, atRest);
  assert.equal(sessions, 0);
});
