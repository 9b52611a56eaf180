/**
 * Behaviour specific to FTP, against servers of three makers, unencrypted and over TLS; remote-suite.ts tests the rest.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { GatewayError, hasCode, type ErrorCode } from '../../../src/base/errors.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { at, clientFor, list, put, type Client } from '../support/ftp-client.js';
import {
  makeCertificate,
  startProftpd,
  startPureFtpd,
  startVsftpd,
  type FtpServer,
  type ServerOptions,
} from '../../servers/ftp.js';

const MAKERS: readonly (readonly [string, (options: ServerOptions) => Promise<FtpServer>, ServerOptions['tls']])[] = [
  ['vsftpd', startVsftpd, 'none'],
  ['vsftpd with require_ssl_reuse', startVsftpd, 'explicit'],
  ['pure-ftpd', startPureFtpd, 'none'],
  ['pure-ftpd', startPureFtpd, 'explicit'],
  ['proftpd', startProftpd, 'none'],
  ['proftpd', startProftpd, 'implicit'],
];

const failsWith =
  (code: ErrorCode) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.code, code, error.clientText);
    return true;
  };

describe('servers', { concurrency: 4 }, () => {
  for (const [name, start, tls] of MAKERS) describe(`${name}, TLS: ${tls}`, () => sessions(() => start({ tls })));
});

function sessions(start: () => Promise<FtpServer>): void {
  let server: FtpServer;
  let client: Client;

  before(async () => {
    server = await start();
    client = clientFor(server);
  });
  after(() => server.stop());

  test('a reader that leaves half way lets the server send no more', async () => {
    await client.use(async (remote, session) => {
      await put(remote, '/large', Buffer.alloc(20_000_000));
      const body = streamOf(await remote.read(at('/large')));
      body.once('data', () => body.destroy());
      await once(body, 'close');
      session.release(await session.lease(new AbortController().signal), 'keep');
      assert.equal(session.alive, false);
    });
  });

  test('the time of an old file is at least exact to the day in listings, and exact to the second in lookups', async () => {
    await client.use(async (remote) => {
      await put(remote, '/listed/file', '1234');
      utimesSync(path.join(server.folder, 'listed/file'), 1_700_000_000, 1_700_000_000);
      const [entry] = await list(remote, '/listed');
      const reported = entry?.modifiedAt.getTime() ?? 0;
      // LIST shows only the day of an old file.
      assert.ok(Math.abs(reported - 1_700_000_000_000) <= (remote.can.timeResolutionMs === 1_000 ? 0 : 86_400_000));
      assert.equal((await remote.stat(at('/listed/file'))).modifiedAt.getTime(), 1_700_000_000_000);
    });
  });

  test('an idle session proves itself, and one that the server drops is noticed', async () => {
    const session = await client.open();
    await session.check(new AbortController().signal);
    assert.equal(session.alive, true);
    session.close();
    session.close();
    assert.equal(session.alive, false);
    await assert.rejects(session.check(new AbortController().signal), failsWith('connection_lost'));
  });

  test('a wrong login is refused in words without the password', async () => {
    const wrong = { username: 'nobody-here', password: 'wrong-secret' };
    await assert.rejects(
      client.open(wrong, { connectTimeoutMs: 15_000, stallTimeoutMs: 15_000 }),
      (error: GatewayError) => {
        assert.equal(error.code, 'login_refused');
        assert.doesNotMatch(error.clientText, /wrong-secret/);
        return true;
      },
    );
  });
}

describe('certificates', () => {
  let server: FtpServer;
  let client: Client;
  before(async () => {
    server = await startVsftpd({ tls: 'explicit' });
    client = clientFor(server);
  });
  after(() => server.stop());

  test('an unknown authority, another authority and another name are refused', async (t) => {
    const place = mkdtempSync(path.join(os.tmpdir(), 'ftg-ca-'));
    t.after(() => rmSync(place, { recursive: true }));
    await assert.rejects(client.open({ tlsCa: undefined }), failsWith('certificate_rejected'));
    await assert.rejects(client.open({ tlsCa: makeCertificate(place).ca }), failsWith('certificate_rejected'));
    await assert.rejects(client.open({ host: '127.0.0.2' }), failsWith('unreachable'));
    await assert.rejects(client.open({ tls: 'implicit' }), failsWith('certificate_rejected'));
  });

  test('the authority of the connection, or no verification, admits it, also by name', async () => {
    for (const trust of [{}, { host: 'localhost' }, { tlsCa: undefined, tlsVerify: false }]) {
      await client.use((remote) => put(remote, '/trusted', 'x'), trust);
    }
  });

  test('a server without TLS is never used unencrypted', async () => {
    const plain = await startVsftpd();
    try {
      await assert.rejects(clientFor(plain).open({ tls: 'explicit' }), failsWith('remote_failure'));
    } finally {
      await plain.stop();
    }
  });
});

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`data connections resume the session of the control connection with ${version}`, async () => {
    const server = await startProftpd({ tls: 'explicit', extra: [`TLSProtocol ${version}`] });
    try {
      await clientFor(server).use(async (remote) => {
        for (let turn = 0; turn < 5; turn++) await put(remote, `/${turn}`, 'x');
        assert.equal((await list(remote, '/')).length, 5);
      });
    } finally {
      await server.stop();
    }
  });
}

test('a server that is full says so as too_many_sessions', async () => {
  const server = await startVsftpd({ extra: ['max_clients=1'] });
  const client = clientFor(server);
  try {
    const session = await openOnceFree(client);
    await assert.rejects(client.open(), failsWith('too_many_sessions'));
    session.close();
  } finally {
    await server.stop();
  }
});

/** The check whether the server had started counts as a client until the server has seen it leave. */
async function openOnceFree(client: Client): ReturnType<Client['open']> {
  for (let left = 50; ; left--) {
    try {
      return await client.open();
    } catch (error) {
      if (!hasCode(error, 'too_many_sessions') || left === 0) throw error;
    }
  }
}

test('a server in another zone lists times that are UTC', async () => {
  const server = await startVsftpd({ extra: ['use_localtime=YES'], env: { TZ: 'Asia/Kolkata' } });
  try {
    await clientFor(server).use(async (remote) => {
      const written = await put(remote, '/now', 'x');
      const [listed] = await list(remote, '/');
      assert.equal(
        Math.floor(written.modifiedAt.getTime() / 60_000),
        Math.floor((listed?.modifiedAt.getTime() ?? 0) / 60_000),
      );
    });
  } finally {
    await server.stop();
  }
});

test('the zone of the connection is that of the times in LIST, and nothing is learned', async () => {
  const server = await startProftpd({ extra: ['TimesGMT off'], env: { TZ: 'Asia/Kolkata' } });
  try {
    const client = clientFor(server);
    await client.use((remote) => put(remote, '/now', 'x'));
    const time = Math.floor(Date.now() / 60_000) * 60;
    utimesSync(path.join(server.folder, 'now'), time, time);
    for (const [timeZone, ahead] of [
      ['Asia/Kolkata', 0],
      ['UTC', 5.5 * 3_600],
    ] as const) {
      const [listed] = await client.use((remote) => list(remote, '/'), { listing: 'unix', timeZone });
      assert.equal((listed?.modifiedAt.getTime() ?? 0) / 1_000, time + ahead, timeZone);
    }
  } finally {
    await server.stop();
  }
});
