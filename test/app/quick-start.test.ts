import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { suite, test } from 'node:test';
import { promisify } from 'node:util';
import ssh2 from 'ssh2';
import type { Config } from '../../src/config/schema.js';
import { createValidator } from '../../src/config/validate.js';
import { CONNECTION_TYPES } from '../../src/contract/connection/types.js';
import { provision } from '../../src/app/quick-start.js';
import { quickStartBanner } from '../../src/app/quick-start-banner.js';
import {
  type QuickStartLogin,
  makeQuickStart,
  newCredentials,
  quickStartAccount,
  readQuickStart,
  storeQuickStart,
} from '../../src/app/quick-start-state.js';
import { runSandbox, sandboxConnection, withConnection } from '../../src/app/sandbox.js';
import type { Part, Parts } from '../../src/app/parts.js';
import type { Storage } from '../../src/storage/storage.js';
import { inFolder, KEY } from '../config/support.js';

const sandbox = { port: 2222, hostKeyFingerprint: `SHA256:${'A'.repeat(43)}` };
const generateKey = (): string => KEY;
const credentials: QuickStartLogin = { apiKey: KEY, password: 'shownOnce' };

suite('the state of a quick start', () => {
  test('is created once, only for its owner, and contains neither key nor dashboard password', async () => {
    await inFolder(async (folder) => {
      const dataDir = path.join(folder, 'data');
      assert.equal(await readQuickStart(dataDir), undefined);
      const state = await makeQuickStart(dataDir);
      const file = path.join(dataDir, 'quick-start.json');
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.deepEqual(await readQuickStart(dataDir), state);
      const fresh = newCredentials(state, 0, generateKey);
      await storeQuickStart(dataDir, { ...state, isAnnounced: true });
      assert.equal((await readQuickStart(dataDir))?.isAnnounced, true);
      await storeQuickStart(dataDir, { ...state, isAnnounced: true, webhookPort: 4711 });
      assert.equal((await readQuickStart(dataDir))?.webhookPort, 4711);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.doesNotMatch(readFileSync(file, 'utf8'), new RegExp(`${KEY}|${fresh?.password}`));
    });
  });

  test('two starts have different passwords', async () => {
    const state = (): Promise<string> => inFolder(async (folder) => (await makeQuickStart(folder)).sandbox.password);
    assert.notEqual(await state(), await state());
  });

  test('a damaged file is named, not replaced', async () => {
    await inFolder(async (folder) => {
      const file = path.join(folder, 'quick-start.json');
      for (const text of ['', '{}', '{"sandbox":{"username":"a"},"isAnnounced":true}']) {
        writeFileSync(file, text);
        await assert.rejects(readQuickStart(folder), { name: 'ConfigError', message: /quick-start\.json.*delete it/ });
        assert.equal(readFileSync(file, 'utf8'), text);
      }
    });
  });
});

suite('where the sandbox runs', () => {
  const owner = { id: 'a', email: 'tenant@example.com', plan: 'pro' };

  /** The database has a connection with the sandbox's name, host and login. */
  async function starts(dataDir: string, wanted: Config['sandbox']): Promise<{ runs: boolean; off: string[] }> {
    const off: string[] = [];
    const storage = {
      accounts: { findByConnection: async () => owner, findByEmail: async () => owner, count: async () => 1 },
      connections: { switchOff: async (id: string) => void off.push(id) },
      provision: async () => undefined,
    } as unknown as Storage;
    const ends: (() => void | Promise<void>)[] = [];
    const started = { add: (part: Part) => void ends.push(() => part.stop?.()) } as Parts;
    try {
      const config = { accounts: [{ ...owner, apiKeys: [], connections: [] }], dataDir, sandbox: wanted };
      const { sandbox: running } = await provision(
        config as unknown as Config,
        false,
        storage,
        started,
        () => undefined,
      );
      return { runs: running !== undefined, off };
    } finally {
      for (const end of ends) await end();
    }
  }

  test('a connection that resembles its own does not start it: "auto" is where it ran before', async () => {
    await inFolder(async (folder) => {
      const dataDir = path.join(folder, 'data');
      assert.deepEqual(await starts(dataDir, 'auto'), { runs: false, off: [] });
      assert.ok(!existsSync(dataDir));
      assert.deepEqual(await starts(dataDir, true), { runs: true, off: [] });
      assert.deepEqual(await starts(dataDir, 'auto'), { runs: true, off: [] });
      assert.deepEqual(await starts(dataDir, false), { runs: false, off: ['sandbox'] });
    });
  });
});

suite('credentials', () => {
  const state = { sandbox: { username: 'sandbox', password: 'pw' }, isAnnounced: true };

  test('are created until they were shown, and again for a database without any', () => {
    assert.equal(newCredentials(state, 1, generateKey), undefined);
    assert.equal(newCredentials({ ...state, isAnnounced: false }, 1, generateKey)?.apiKey, KEY);
    assert.equal(newCredentials(state, 0, generateKey)?.apiKey, KEY);
  });

  test('belong to the account that created them, later accounts do not change them', () => {
    const first = quickStartAccount(credentials);
    assert.equal(first.apiKeys[0]?.key, KEY);
    assert.equal(first.password, 'shownOnce');
    const later = quickStartAccount();
    assert.deepEqual([later.apiKeys, later.password], [[], undefined]);
  });

  test('create an account that the configuration would accept', () => {
    const origin = { placeOf: () => undefined, isVariable: () => false, writtenAt: () => undefined };
    const account = quickStartAccount(credentials);
    const accounts = structuredClone(withConnection([account], account, sandboxConnection(state, sandbox)));
    assert.deepEqual(createValidator(CONNECTION_TYPES)({ accounts }, origin).mistakes, []);
  });

  test('the connection to the sandbox opens its folder, and pins its host key', async () => {
    await inFolder(async (dataDir) => {
      const ends: (() => void | Promise<void>)[] = [];
      const running = await runSandbox(dataDir, state, {
        add: (part: Part) => void ends.push(() => part.stop?.()),
      } as Parts);
      try {
        writeFileSync(path.join(dataDir, 'sandbox/here.txt'), '');
        const connection = sandboxConnection(state, running);
        assert.ok(connection.type === 'sftp');
        const { host, username, password, port, hostKey } = connection;
        assert.ok(typeof password === 'string');
        assert.deepEqual({ username, password }, state.sandbox);
        const client = new ssh2.Client();
        const seen: string[] = [];
        const hostVerifier = (key: Buffer): boolean => {
          seen.push(`SHA256:${createHash('sha256').update(key).digest('base64').replace('=', '')}`);
          return true;
        };
        client.connect({ host, port, username, password, hostVerifier });
        await once(client, 'ready');
        const names = await new Promise<string[]>((done, fail) =>
          client.sftp((error, sftp) =>
            error === undefined
              ? sftp.readdir('/', (_, list) => done(list.map(({ filename }) => filename)))
              : fail(error),
          ),
        );
        client.end();
        await once(client, 'close');
        assert.deepEqual([names, seen], [['here.txt'], [hostKey]]);
      } finally {
        for (const end of ends) await end();
      }
    });
  });
});

suite('the banner', () => {
  test('shows key and password when they are new, and only then', () => {
    const now = quickStartBanner({ url: 'http://h', dataDir: 'data', credentials });
    assert.match(now, new RegExp(KEY));
    assert.match(now, /password shownOnce/);
    const later = quickStartBanner({ url: 'http://h', dataDir: 'data' });
    assert.doesNotMatch(later, /ftg_|curl/);
    assert.match(later, /delete .*quick-start\.json/);
  });

  test('its curl lines work as written: each is a valid request with the key', async () => {
    const seen: string[] = [];
    const server = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        assert.equal(request.headers.authorization, `Bearer ${KEY}`);
        const file = /filename="([^"]*)"[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(Buffer.concat(chunks).toString());
        seen.push(`${request.method} ${request.url}${file === null ? '' : ` ${file[1]}=${file[2]}`}`);
        response.end('{}');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const banner = quickStartBanner({ url, dataDir: 'data', credentials });
      const lines = banner.split('\n').filter((line) => line.includes('curl '));
      for (const line of lines) await promisify(execFile)('bash', ['-ec', line]);
    } finally {
      server.close();
    }
    assert.deepEqual(seen, [
      'POST /api/upload/sandbox hello.txt=hello',
      'GET /api/list/sandbox',
      'GET /api/download/sandbox?path=/hello.txt',
      'GET /api/transfers',
    ]);
  });
});
