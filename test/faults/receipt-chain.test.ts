/**
 * Receipts of many uploads at once over three nodes of one database, two of which are killed in the middle: one chain,
 * without gaps and forks, and every answered upload has one. FTG_RECEIPTS: how many uploads (300).
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import postgres from 'postgres';
import { uuidv7 } from '../../src/base/uuid.js';
import { keysOf, verifyChain, verifyReceipt, type Keys } from '../../src/cli/receipt-chain.js';
import { FTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startTogether } from '../support/together.js';
import { FTG } from '../support/start-args.js';

const UPLOADS = Number(process.env['FTG_RECEIPTS'] ?? 300);
const AT_ONCE = UPLOADS > 1000 ? 600 : 48;
const MASTER_KEY = 'ab'.repeat(32);

describe('receipts over nodes that are killed', () => {
  let server: TestServer;
  let database: PostgresServer;
  const nodes: TestGateway[] = [];
  let keys: Keys;

  const startNode = (): Promise<TestGateway> =>
    startGateway({
      connections: [{ id: 'c1', name: 'Server', ...server.connection, digests: 'always' }],
      config: { database: { url: database.url } },
      env: { GATEWAY_MASTER_KEY: MASTER_KEY },
    });

  before(async () => {
    [server, database] = await startTogether([FTP_SERVERS[0]!.start(), startPostgres()]);
    nodes.push(await startNode());
    nodes.push(...(await startTogether([startNode(), startNode()])));
    keys = keysOf((await nodes[0]!.api.get('/.well-known/jwks.json')).json);
  });
  after(async () => {
    for (const node of nodes) await node.stop();
    await database?.stop();
    await server?.stop();
  });

  const linesOf = async (query: Record<string, string> = {}): Promise<string[]> => {
    const answer = await nodes[0]!.api.get('/api/receipts', { query });
    assert.equal(answer.status, 200, answer.text);
    return answer.text.split('\n').slice(0, -1);
  };
  async function* each(lines: readonly string[]): AsyncGenerator<string> {
    yield* lines;
  }

  test(`${UPLOADS} uploads, and their chain`, async () => {
    const answered: string[] = [];
    let begun = 0;
    // Like a balancer: a node that is down gets no requests.
    const up = new Set(nodes.keys());
    const kill = async (index: number): Promise<void> => {
      up.delete(index);
      await nodes[index]!.kill();
      nodes[index] = await startNode();
      up.add(index);
    };
    const kills: Promise<void>[] = [];
    const worker = async (): Promise<void> => {
      while (begun < UPLOADS) {
        const number = begun++;
        if (number === Math.floor(UPLOADS / 3)) kills.push(kill(1));
        if (number === Math.floor((2 * UPLOADS) / 3)) kills.push(kill(2));
        const node = nodes[[...up][number % up.size]!]!;
        const answer = await node.api
          .send('/api/upload/c1', {
            method: 'POST',
            query: { path: '/receipts', filename: `f${number}` },
            headers: { 'Content-Type': 'application/octet-stream' },
            body: `content of ${number}`,
          })
          .catch(() => undefined);
        if (answer?.status === 200) answered.push((answer.json['transfer'] as { id: string }).id);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    await Promise.all(kills);
    const lines = await linesOf();
    const { receipts, first, last } = await verifyChain(each(lines), keys);
    assert.deepEqual([first.sequence, last.sequence, receipts], [1, lines.length, lines.length]);
    const receipted = new Set(lines.map((line) => (JSON.parse(line) as { transferId: string }).transferId));
    assert.deepEqual(
      answered.filter((id) => !receipted.has(id)),
      [],
    );
    assert.ok(answered.length > UPLOADS / 2, `${answered.length} were answered`);
    // Every row of a success has one.
    const { json } = await nodes[0]!.api.get('/api/transfers', { query: { status: 'success', type: 'upload' } });
    assert.equal(json['total'], lines.length);
  });

  test('a requested one equals the one in the chain, and is valid by itself', async () => {
    const [line = ''] = await linesOf({ after: '4', limit: '1' });
    const { sequence, transferId, receipt } = JSON.parse(line) as Record<string, string>;
    assert.equal(sequence, 5);
    const alone = await nodes[0]!.api.get(`/api/transfers/${transferId}/receipt`);
    assert.deepEqual([alone.status, alone.headers['content-type'], alone.text], [200, 'application/jose', receipt]);
    assert.equal(verifyReceipt(alone.text, keys).transfer.id, transferId);
  });

  test('why a transfer has none', async () => {
    const { api } = nodes[0]!;
    const newest = async (type: string): Promise<string> => {
      const { json } = await api.get('/api/transfers', { query: { type, limit: '1' } });
      return (json['transfers'] as { id: string }[])[0]!.id;
    };
    const reasonOf = async (id: string): Promise<string> => {
      const answer = await api.get(`/api/transfers/${id}/receipt`);
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [404, 'unknown_item']);
      return String(answer.json['error']);
    };
    await api.post('/api/delete/c1', { path: '/receipts/never' });
    assert.match(await reasonOf(await newest('delete')), /it failed$/);
    await api.post('/api/mkdir/c1', { path: '/receipts/made' });
    assert.match(await reasonOf(await newest('mkdir')), /of the type mkdir$/);
    // Like a node of the former version writes it, in a rolling upgrade.
    const former = uuidv7();
    const sql = postgres(database.url, { max: 1 });
    try {
      await sql.begin(async (tx) => {
        await tx`create temporary table former on commit drop as
          select * from transfers where type = 'upload' and status = 'success' limit 1`;
        await tx`update former set id = ${former}, digest = null, no_digest = null, stages = null`;
        await tx`insert into transfers select * from former`;
      });
    } finally {
      await sql.end();
    }
    assert.match(await reasonOf(former), /a version of the gateway recorded it that made none$/);
    const { digest, noDigest, stages } = (await api.get(`/api/transfers/${former}`)).json['transfer'] as object as {
      readonly [field: string]: unknown;
    };
    assert.deepEqual([digest, noDigest, stages], [null, null, null]);
  });

  test('a change in the database is named by ftg verify', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'ftg-verify-'));
    const [file, keyFile] = [path.join(folder, 'chain.ndjson'), path.join(folder, 'jwks.json')];
    writeFileSync(keyFile, (await nodes[0]!.api.get('/.well-known/jwks.json')).text);
    const sql = postgres(database.url, { max: 1 });
    const verified = async (): Promise<{ isValid: boolean; brokenAt?: number }> => {
      writeFileSync(file, `${(await linesOf()).join('\n')}\n`);
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        [FTG, '--json', 'verify', file, '--keys', keyFile],
        { encoding: 'utf8' },
      );
      const answer = JSON.parse(stdout) as { isValid: boolean; brokenAt?: number };
      assert.equal(status, answer.isValid ? 0 : 1, stderr);
      return answer;
    };
    try {
      assert.equal((await verified()).isValid, true);
      const [row] = await sql`select transfer_id, receipt from receipts where sequence = 7`;
      const changes: readonly [string, string][] = [
        ['path = path || $1', 'path = left(path, -1)'],
        ['filename = $1 || filename', 'filename = substr(filename, 2)'],
        ['file_size = file_size + length($1)', 'file_size = file_size - 1'],
        [
          'digest = set_byte(digest, 3, get_byte(digest, 3) # length($1))',
          'digest = set_byte(digest, 3, get_byte(digest, 3) # 1)',
        ],
        ["status = case when $1 = 'x' then 'failed' end", "status = 'success'"],
        ["created_at = created_at + length($1) * interval '1 ms'", "created_at = created_at - interval '1 ms'"],
        ["stages = replace(stages, '{', '{\"' || $1 || '\":1,')", "stages = replace(stages, '\"x\":1,', '')"],
        [
          'key_id = case when $1 = $1 then gen_random_uuid() end',
          'key_id = (select key_id from transfers where id <> t.id limit 1)',
        ],
      ];
      for (const [change, undo] of changes) {
        await sql.unsafe(`update transfers t set ${change} where id = $2`, ['x', row!['transfer_id'] as string]);
        assert.deepEqual(await verified().then(({ isValid, brokenAt }) => [isValid, brokenAt]), [false, 7], change);
        await sql.unsafe(`update transfers t set ${undo} where id = $1`, [row!['transfer_id'] as string]);
      }
      assert.equal((await verified()).isValid, true);
      const receipt = row!['receipt'] as string;
      const middle = receipt.length >> 1;
      const other = receipt[middle] === 'A' ? 'B' : 'A';
      await sql`update receipts set receipt = ${receipt.slice(0, middle) + other + receipt.slice(middle + 1)} where sequence = 7`;
      assert.equal((await verified()).brokenAt, 7);
      await sql`update receipts set receipt = ${receipt} where sequence = 7`;
      await sql`delete from receipts where sequence = 9`;
      assert.equal((await verified()).brokenAt, 9);
    } finally {
      await sql.end();
      rmSync(folder, { recursive: true });
    }
  });

  test('a receipt whose successors are no longer kept is 410, and not a silent gap', async () => {
    const { api } = nodes[0]!;
    const ask = async (query: Record<string, string>): Promise<[number, unknown]> => {
      const { status, headers } = await api.get('/api/receipts', { query });
      return [status, headers['x-error-code']];
    };
    const { sequence: last } = JSON.parse((await linesOf()).at(-1) ?? '{}') as { sequence: number };
    const sql = postgres(database.url, { max: 1 });
    const first = async (query: Record<string, string>): Promise<number> =>
      (JSON.parse((await linesOf(query))[0] ?? '{}') as { sequence: number }).sequence;
    try {
      await sql`delete from receipts where sequence <= 3`;
      assert.deepEqual(await ask({ after: '0' }), [410, 'gone']);
      assert.deepEqual(await ask({ after: '2' }), [410, 'gone']);
      assert.deepEqual([await first({}), await first({ after: '3' })], [4, 4]);
      assert.deepEqual(await linesOf({ after: String(last) }), []);
      assert.deepEqual(await ask({ after: String(last + 1) }), [400, 'bad_request']);
      await sql`delete from receipts`;
      assert.deepEqual(await ask({ after: String(last - 1) }), [410, 'gone']);
      assert.deepEqual(await linesOf({ after: String(last) }), []);
      assert.deepEqual(await linesOf(), []);
    } finally {
      await sql.end();
    }
  });
});
