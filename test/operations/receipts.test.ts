/**
 * Which operations have a receipt with digests on, and its content for each: every kind, by itself and in jobs (watched
 * folders: test/watch).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { keysOf, type Payload, verifyChain } from '../../src/cli/receipt-chain.js';
import { type TransferType, TRANSFER_TYPES } from '../../src/contract/transfer.js';
import { run } from '../jobs/support.js';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startReceiver, type Receiver } from '../watch/support/receiver.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { type ApiAnswer } from '../support/gateway.js';
import { startTogether } from '../support/together.js';

type Facts = Record<string, unknown>;

interface Line {
  readonly receipt: string;
  readonly transfer: Facts & { readonly id: string; readonly type: TransferType };
}

const shown = (content: string): string => `sha-256:${createHash('sha256').update(content).digest('hex')}`;

/** The relevant part of the row, and of the receipt; null: there is a row, but no receipt. */
interface Expected {
  readonly do: () => Promise<ApiAnswer | undefined>;
  readonly holds: Facts | null;
}

describe('receipts of every kind of operation', () => {
  let [server, other]: TestServer[] = [];
  let receiver: Receiver;
  let site: http.Server;
  let gateway: TestAccount;
  before(async () => {
    [server, other, receiver] = await startTogether([
      SFTP_SERVERS[0]!.start(),
      FTP_SERVERS[0]!.start(),
      startReceiver(),
    ]);
    site = http.createServer((_, response) => response.end('from a url'));
    await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
    gateway = await openAccount({
      connections: [
        { id: 'c1', name: 'One', ...server.connection, digests: 'always' },
        { id: 'c2', name: 'Other', ...other.connection, digests: 'always' },
        { id: 'plain', name: 'Without', ...server.connection },
      ],
      isPrompt: true,
    });
    for (const name of ['read', 'move', 'delete', 'copy', 'old']) await server.disk.write(`/kinds/${name}`, name);
    for (const name of ['a', 'b/c', 'b/d']) await server.disk.write(`/kinds/tree/${name}`, name);
  });
  after(async () => {
    await gateway?.stop();
    site?.close();
    await receiver?.close();
    for (const each of [server, other]) await each?.stop();
  });

  const post = (target: string, body: object): Promise<ApiAnswer> => gateway.api.post(target, body);
  const newest = async (type: TransferType): Promise<string> => {
    const { json } = await gateway.api.get('/api/transfers', { query: { type, limit: '1' } });
    return (json['transfers'] as { id: string }[])[0]?.id ?? assert.fail(`no item of ${type}`);
  };
  const receiptOf = async (id: string): Promise<Facts | null> => {
    const { status, text } = await gateway.api.get(`/api/transfers/${id}/receipt`);
    if (status === 404) return null;
    return JSON.parse(Buffer.from(text.split('.')[1]!, 'base64url').toString()) as Facts;
  };
  const lines = async (): Promise<readonly Line[]> => {
    const { text } = await gateway.api.get('/api/receipts');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  };

  const at = (path: string): Facts => ({ connectionId: 'c1', path: `/kinds/${path}` });
  const kinds: Readonly<Record<TransferType, Expected>> = {
    upload: {
      do: () => post('/api/upload/c1', { content: 'dXA=', path: '/kinds', filename: 'up' }),
      holds: { verified: 'size', transfer: { ...at('up'), digest: shown('up'), noDigest: null } },
    },
    download: {
      do: () => gateway.api.get('/api/download/c1', { query: { path: '/kinds/read' } }),
      holds: { verified: null, transfer: { ...at('read'), digest: shown('read') } },
    },
    read: {
      do: () => gateway.api.get('/api/read/c1', { query: { path: '/kinds/read' } }),
      holds: { verified: null, transfer: { ...at('read'), digest: shown('read') } },
    },
    write: {
      do: () => post('/api/write/c1', { path: '/kinds/written', content: 'text' }),
      holds: { verified: 'size', transfer: { ...at('written'), digest: shown('text') } },
    },
    append: {
      do: () => post('/api/append/c1', { path: '/kinds/written', content: ' more' }),
      holds: { verified: 'size', transfer: { ...at('written'), digest: null, noDigest: 'append' } },
    },
    copy: {
      do: () =>
        post('/api/copy', {
          source_connection_id: 'plain',
          source_path: '/kinds/copy',
          dest_connection_id: 'c2',
          dest_path: '/copied',
        }),
      holds: {
        verified: 'size',
        source: { connectionId: 'plain', path: '/kinds/copy', type: 'sftp' },
        server: { type: 'ftp' },
        transfer: { connectionId: 'c2', path: '/copied', digest: shown('copy') },
      },
    },
    move: {
      do: () => post('/api/move/c1', { from: '/kinds/move', to: '/kinds/moved' }),
      holds: {
        verified: null,
        source: { ...at('move'), type: 'sftp' },
        movedTo: '/kinds/moved',
        transfer: { ...at('moved'), digest: null, noDigest: 'server_side_move', fileSize: 4 },
      },
    },
    delete: {
      do: () => post('/api/delete/c1', { path: '/kinds/delete' }),
      holds: { verified: null, transfer: { ...at('delete'), digest: null, noDigest: null } },
    },
    mkdir: { do: () => post('/api/mkdir/c1', { path: '/kinds/made' }), holds: null },
    list: { do: () => gateway.api.get('/api/list/c1', { query: { path: '/kinds' } }), holds: null },
    exists: { do: () => gateway.api.get('/api/exists/c1', { query: { path: '/kinds' } }), holds: null },
    exec: { do: () => post('/api/exec/c1', { command: 'true' }), holds: null },
    poll: {
      do: () =>
        post('/api/watched-folders', {
          connectionId: 'c1',
          path: '/kinds',
          filePattern: 'old',
          webhookUrl: `${receiver.url}/x`,
          initial: 'report',
        }),
      holds: null,
    },
  };

  for (const type of TRANSFER_TYPES) {
    const { do: act, holds } = kinds[type];
    test(`${type}: ${holds === null ? 'none' : 'one'}`, async () => {
      const answer = await act();
      if (answer !== undefined) assert.ok(answer.status < 300, answer.text);
      await eventually(
        () =>
          newest(type).then(
            () => true,
            () => false,
          ),
        `an item of ${type}`,
      );
      const id = await newest(type);
      const receipt = await receiptOf(id);
      if (holds === null) {
        assert.equal(receipt, null);
        const { json } = await gateway.api.get(`/api/transfers/${id}`);
        const { digest, noDigest } = json['transfer'] as Facts;
        assert.deepEqual([digest, noDigest], [null, null]);
      } else assertHolds(receipt, holds);
    });
  }

  test('a list that is streamed has no digest', async () => {
    const headers = { Accept: 'application/x-ndjson' };
    const answer = await gateway.api.get('/api/list/c1', { query: { path: '/kinds', recursive: 'true' }, headers });
    assert.equal(answer.status, 200, answer.text);
    const { json } = await gateway.api.get('/api/transfers', { query: { digest: shown('') } });
    assert.deepEqual(json['transfers'], []);
  });

  test('an option given for one file that concerns several: all of them are listed', async () => {
    const query = '?format=zip&path=/kinds/read&path=/kinds/tree';
    const archive = await gateway.api.get(`/api/download/c1${query}`);
    assert.equal(archive.status, 200);
    const zipped = await receiptOf(await newest('download'));
    assertHolds(zipped, {
      paths: ['/kinds/read', '/kinds/tree'],
      transfer: {
        path: '/kinds/read',
        digest: shown(archive.bytes as unknown as string),
        fileSize: archive.bytes.length,
      },
    });
    await post('/api/delete/c1', { path: '/kinds/tree', recursive: true });
    assertHolds(await receiptOf(await newest('delete')), { deleted: 5, transfer: at('tree') });
  });

  test('a url: the identity of its server', async () => {
    const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
    await post('/api/upload/c1', { url: `http://${host}/x`, path: '/kinds', filename: 'fetched' });
    const receipt = await receiptOf(await newest('upload'));
    assertHolds(receipt, { source: { type: 'url', host }, transfer: { digest: shown('from a url') } });
  });

  const jobs: readonly {
    readonly what: string;
    readonly job: object;
    readonly holds: readonly Facts[];
  }[] = [
    {
      what: 'copies',
      job: {
        type: 'copy',
        source: { connectionId: 'c1', path: '/job' },
        destination: { connectionId: 'c2', path: '/job' },
      },
      holds: ['a', 'b'].map((name) => ({
        source: { connectionId: 'c1', path: `/job/${name}` },
        transfer: { type: 'copy', connectionId: 'c2', path: `/job/${name}`, digest: shown(name) },
      })),
    },
    {
      what: 'moves to another server',
      job: {
        type: 'move',
        source: { connectionId: 'c1', path: '/job' },
        destination: { connectionId: 'c2', path: '/far' },
      },
      holds: ['a', 'b'].map((name) => ({
        source: { connectionId: 'c1', path: `/job/${name}`, type: 'sftp' },
        verified: 'size',
        transfer: { type: 'move', connectionId: 'c2', path: `/far/${name}`, digest: shown(name) },
      })),
    },
    {
      what: 'moves within a server',
      job: {
        type: 'move',
        source: { connectionId: 'c1', path: '/job' },
        destination: { connectionId: 'c1', path: '/near' },
      },
      holds: ['a', 'b'].map((name) => ({
        source: { connectionId: 'c1', path: `/job/${name}` },
        movedTo: `/near/${name}`,
        verified: null,
        transfer: { type: 'move', connectionId: 'c1', path: `/near/${name}`, noDigest: 'server_side_move' },
      })),
    },
    {
      what: 'deletes',
      job: { type: 'delete', source: { connectionId: 'c1', path: '/job' } },
      holds: ['a', 'b'].map((name) => ({ transfer: { type: 'delete', connectionId: 'c1', path: `/job/${name}` } })),
    },
    {
      what: 'makes the same, deleting what is not',
      job: {
        type: 'sync',
        deleteExtra: true,
        source: { connectionId: 'c1', path: '/job' },
        destination: { connectionId: 'c1', path: '/mirror' },
      },
      holds: [
        ...['a', 'b'].map((name) => ({ transfer: { type: 'copy', path: `/mirror/${name}`, digest: shown(name) } })),
        { transfer: { type: 'delete', path: '/mirror/extra' } },
      ],
    },
  ];
  for (const { what, job, holds } of jobs) {
    test(`a job that ${what}: one for each file`, async () => {
      for (const name of ['a', 'b']) await server!.disk.write(`/job/${name}`, name);
      await server!.disk.write('/mirror/extra', 'x');
      const { id, state } = await run(gateway.api, job);
      assert.equal(state, 'succeeded');
      const receipts = [];
      for (const line of await lines())
        if (line.transfer['jobId'] === id) receipts.push(await receiptOf(line.transfer.id));
      const placeOf = (facts: Facts | null): string => String((facts?.['transfer'] as Facts)['path']);
      receipts.sort((one, two) => (placeOf(one) < placeOf(two) ? -1 : 1));
      assert.equal(receipts.length, holds.length);
      for (const [index, facts] of holds.entries()) assertHolds(receipts[index] ?? null, facts);
    });
  }

  test('a job that uploads a url', async () => {
    const body = {
      url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/x`,
      path: '/kinds',
      filename: 'later',
    };
    const answer = await gateway.api.post('/api/upload/c1', body, { headers: { Prefer: 'respond-async' } });
    assert.equal(answer.status, 202, answer.text);
    const { id } = answer.json['job'] as { id: string };
    await eventually(async () => (await lines()).some(({ transfer }) => transfer['jobId'] === id), 'its receipt');
    const line = (await lines()).find(({ transfer }) => transfer['jobId'] === id);
    assertHolds(await receiptOf(line!.transfer.id), {
      source: { type: 'url' },
      transfer: { type: 'upload', path: '/kinds/later', digest: shown('from a url') },
    });
  });

  test('are verified by OpenSSL, which knows nothing of this program', async () => {
    const { keys } = (await gateway.api.get('/.well-known/jwks.json')).json as { keys: { kid: string; x: string }[] };
    const folder = mkdtempSync(path.join(tmpdir(), 'ftg-openssl-'));
    const at = (name: string): string => path.join(folder, name);
    try {
      for (const { receipt } of await lines()) {
        const [head = '', payload = '', signature = ''] = receipt.split('.');
        const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string };
        const { x = '' } = keys.find((key) => key.kid === kid) ?? {};
        // The bytes before the 32 bytes of an Ed25519 key (RFC 8410).
        const key = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(x, 'base64url')]);
        writeFileSync(at('key'), key);
        writeFileSync(at('signature'), Buffer.from(signature, 'base64url'));
        const files = ['-inkey', at('key'), '-sigfile', at('signature'), '-in', at('input')];
        const verified = (input: string): number | null => {
          writeFileSync(at('input'), input);
          return spawnSync('openssl', ['pkeyutl', '-verify', '-pubin', '-keyform', 'DER', '-rawin', ...files]).status;
        };
        assert.equal(verified(`${head}.${payload}`), 0);
        assert.equal(verified(`${head}.${payload}A`), 1);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('no other operation has one, and all of them form one chain', async () => {
    const all = await lines();
    const keys = keysOf((await gateway.api.get('/.well-known/jwks.json')).json);
    const { receipts } = await verifyChain(
      (async function* () {
        for (const line of all) yield JSON.stringify(line);
      })(),
      keys,
    );
    assert.equal(receipts, all.length);
    const kindsOf = new Set(all.map(({ transfer }) => transfer.type));
    const expected = TRANSFER_TYPES.filter((type) => kinds[type].holds !== null);
    assert.deepEqual([...kindsOf].sort(), [...expected].sort());
    const payloads = all.map(
      ({ receipt }) => JSON.parse(Buffer.from(receipt.split('.')[1]!, 'base64url').toString()) as Payload,
    );
    assert.ok(payloads.every(({ transfer }) => transfer['connectionId'] !== 'plain'));
  });
});

/** Everything expected is there; other fields do not matter. */
function assertHolds(actual: unknown, expected: Facts): void {
  assert.ok(typeof actual === 'object' && actual !== null, 'there is no receipt');
  for (const [name, value] of Object.entries(expected)) {
    const found: unknown = (actual as Facts)[name];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) assertHolds(found, value as Facts);
    else assert.deepEqual(found ?? null, value, name);
  }
}
