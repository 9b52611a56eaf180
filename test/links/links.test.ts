/**
 * Links on several nodes of two threads each: the requests of the API, and that a use counts once, on every node and
 * also after a node's death.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { type Cluster, startCluster } from '../jobs/cluster.js';
import { SFTP_SERVERS } from '../servers/catalogue.js';
import { withSql } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { KEY, type ApiAnswer, type ApiRequest, type TestGateway } from '../support/gateway.js';
import { Tus } from '../uploads/support.js';

const KIB = 1024;
const EMAIL = 'owner@example.com';
const PASSWORD = 'correct horse battery';
const LIMITED = 'ftg_links-limited-key-0123456789-ab';
const PUBLIC = 'https://files.example.com/gateway';

let cluster: Cluster<'files' | 'second'>;
let folders = 0;

before(async () => {
  const [server] = SFTP_SERVERS;
  cluster = await startCluster(
    { files: server, second: server },
    {
      nodes: 2,
      config: {
        server: { threads: 2, publicUrl: PUBLIC, cors: { origins: ['https://app.example.com'] } },
        links: { perAccount: 60 },
      },
      account: {
        email: EMAIL,
        password: PASSWORD,
        apiKeys: [
          { name: 'test', key: KEY },
          { name: 'limited', key: LIMITED, connections: ['second'] },
        ],
      },
    },
  );
});
after(() => cluster?.stop());

interface Made {
  readonly id: string;
  readonly at: string;
  readonly folder: string;
}

const soon = (): string => new Date(Date.now() + 3_600_000).toISOString();
const linkOf = ({ json }: ApiAnswer): Record<string, unknown> => json['link'] as Record<string, unknown>;

async function make(link: object = {}, node = cluster.node(0)): Promise<Made> {
  const folder = `/links-${++folders}`;
  const body = { operation: 'upload', connectionId: 'files', path: folder, expiresAt: soon(), ...link };
  const answer = await node.api.post('/api/links', body);
  assert.equal(answer.status, 201, answer.text);
  const { id, url } = linkOf(answer) as { id: string; url: string };
  assert.match(url, /^https:\/\/files\.example\.com\/gateway\/l\/[0-9A-Za-z]{32}$/);
  return { id, at: new URL(url).pathname.replace('/gateway', ''), folder };
}

const put = (node: TestGateway, at: string, filename: string, request: ApiRequest = {}): Promise<ApiAnswer> =>
  node.api.send(at, { body: 'x', ...request, key: '', method: 'PUT', query: { filename } });
const code = ({ status, headers }: ApiAnswer): string => `${status} ${(headers['x-error-code'] as string) ?? ''}`;
const both = (index: number): TestGateway => cluster.node(index % 2);

describe('links over several nodes', { concurrency: 1 }, () => {
  test('made on one, they are the same on all; the url is shown once, under the address that clients see', async () => {
    const { id, at, folder } = await make({
      maxUses: 5,
      maxBytes: 1000,
      filename: 'one.txt',
      note: 'For <b>you</b>\nSoon',
    });
    const link = linkOf(await cluster.node(1).api.get(`/api/links/${id}`));
    assert.deepEqual(
      { ...link, expiresAt: '', createdAt: '', keyId: '' },
      {
        id,
        operation: 'upload',
        connectionId: 'files',
        path: folder,
        filename: 'one.txt',
        note: 'For <b>you</b>\nSoon',
        overwrite: false,
        folders: false,
        digest: null,
        maxBytes: 1000,
        maxUses: 5,
        uses: 0,
        state: 'active',
        keyId: '',
        expiresAt: '',
        revokedAt: null,
        lastUsedAt: null,
        createdAt: '',
      },
    );
    const page = await cluster.node(1).api.send(at, { key: '', headers: { Accept: 'text/html' } });
    assert.ok(page.text.includes('For &lt;b&gt;you&lt;/b&gt;\nSoon'), page.text);
    assert.ok(page.text.includes(' UTC</time>'), 'without its script the page has the time in UTC');
    assert.equal(code(await put(cluster.node(1), at, 'ignored.txt')), '201 ');
    assert.deepEqual(await cluster.servers.files.disk.files(folder), [`${folder}/one.txt`]);
    const [item] = (await cluster.api.get('/api/transfers', { query: { link_id: id } })).json['transfers'] as {
      id: string;
    }[];
    const detail = (await cluster.api.get(`/api/transfers/${item!.id}`)).json['transfer'] as Record<string, unknown>;
    assert.deepEqual([detail['linkId'], detail['type'], detail['status']], [id, 'upload', 'success']);
    const owner = await cluster.node(1).login(EMAIL, PASSWORD);
    const managed = (await owner.get(`/manage/transfers/${item!.id}`)).json;
    assert.deepEqual([managed['linkId'], (managed['key'] as { name: string }).name], [id, 'test']);
  });

  test('one that takes folders creates them, by PUT and in pieces; it is for uploads without a fixed name alone', async () => {
    const { at, folder } = await make({ folders: true });
    const query = { filename: 'b.txt', folder: 'a b/ü' };
    const answer = await cluster.node(0).api.send(at, { body: 'x', key: '', method: 'PUT', query });
    assert.deepEqual([code(answer), answer.json['filename']], ['201 ', 'b.txt'], answer.text);
    const tus = new Tus(cluster.node(1).api, '', at);
    const url = await tus.begin({ filename: 'c.txt', folder: 'a b' }, 1);
    assert.equal((await tus.patch(url, 0, Buffer.from('y'))).status, 204);
    assert.deepEqual(
      (await cluster.servers.files.disk.files(folder)).sort(),
      [`${folder}/a b/c.txt`, `${folder}/a b/ü/b.txt`].sort(),
    );
    const refused = { connectionId: 'files', path: '/refused', expiresAt: soon(), folders: true };
    for (const more of [{ operation: 'download' }, { operation: 'upload', filename: 'one.txt' }]) {
      assert.equal(code(await cluster.api.post('/api/links', { ...refused, ...more })), '400 bad_request');
    }
  });

  test('a use that is good once is one, on two nodes of two threads, also where the file replaces another one', async () => {
    for (let round = 0; round < 3; round++) {
      const { id, at, folder } = await make({ maxUses: 1, overwrite: true, filename: 'one.bin' });
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, i) => put(both(i), at, 'x', { body: Buffer.alloc(80 * KIB, i) })),
      );
      assert.deepEqual(answers.map(code).sort(), ['201 ', ...Array<string>(15).fill('410 gone')]);
      const winner = answers.findIndex(({ status }) => status === 201);
      assert.ok((await cluster.servers.files.disk.read(`${folder}/one.bin`)).equals(Buffer.alloc(80 * KIB, winner)));
      assert.equal(linkOf(await cluster.api.get(`/api/links/${id}`))['uses'], 1);
    }
  });

  test('a link that is revoked on one node ends on the other at once, including requests under way', async () => {
    const { id, at, folder } = await make();
    const body = new PassThrough();
    const slow = put(cluster.node(1), at, 'slow', { body, headers: { 'Content-Length': '100000' } });
    body.write(Buffer.alloc(90_000));
    await isUnderWay(id);
    const revoked = linkOf(await cluster.node(0).api.send(`/api/links/${id}`, { method: 'DELETE' }));
    assert.equal(revoked['state'], 'revoked');
    assert.equal(code(await put(cluster.node(1), at, 'late')), '410 gone');
    body.end(Buffer.alloc(10_000));
    assert.equal(code(await slow), '410 gone');
    assert.deepEqual(await cluster.servers.files.disk.files(folder), []);
    const again = await cluster.node(1).api.send(`/api/links/${id}`, { method: 'DELETE' });
    assert.deepEqual([again.status, linkOf(again)['revokedAt']], [200, revoked['revokedAt']]);
  });

  test('each use is an event', async () => {
    const { id, at, folder } = await make();
    assert.equal((await put(both(0), at, 'used.txt')).status, 201);
    assert.equal((await put(both(1), at, 'used.txt')).status, 409);
    const uses = async () => {
      const { json } = await cluster.api.get('/api/events', { query: { limit: '1000' } });
      const events = json['events'] as { type: string; data: { linkId?: string; transfer: { path: string } } }[];
      return events.filter(({ type, data }) => type === 'link.used' && data.linkId === id);
    };
    await eventually(async () => (await uses()).length > 0, 'the event has its number');
    assert.deepEqual(
      (await uses()).map(({ data }) => data.transfer.path),
      [`${folder}/used.txt`],
    );
  });

  test('the use of a node that is killed is given back, and nothing is left of its file', async () => {
    const { id, at, folder } = await make({ maxUses: 1 });
    const body = new PassThrough();
    const lost = put(cluster.node(1), at, 'lost', { body, headers: { 'Content-Length': '1000000' } });
    lost.catch(() => undefined);
    body.write(randomBytes(500_000));
    await isUnderWay(id);
    assert.equal(code(await put(cluster.node(0), at, 'second')), '410 gone');
    const { pid } = cluster.node(1);
    await cluster.kill(1);
    body.destroy();
    assert.equal(code(await put(cluster.node(0), at, 'second')), '410 gone', 'its end is not known yet');
    // As if a silent node's time were over; the next start cleans up after it.
    const age = await withSql(
      cluster.postgres.url,
      (sql) => sql`update nodes set last_seen_at = now() - interval '1 minute' where pid = ${pid}`,
    );
    assert.equal(age.count, 2, 'its two threads');
    await cluster.add();
    await eventually(async () => code(await put(cluster.node(0), at, 'second')) === '201 ', 'it is given back');
    const isClean = async () => (await cluster.servers.files.disk.files(folder)).join() === `${folder}/second`;
    await eventually(isClean, 'nothing is left of the file');
    const items = (await cluster.api.get('/api/transfers', { query: { link_id: id } })).json['transfers'];
    assert.deepEqual((items as { status: string }[]).map(({ status }) => status).sort(), ['failed', 'success']);
  });

  test('an invalid link is refused, each field by its name', async () => {
    const good = { operation: 'upload', connectionId: 'files', path: '/x', expiresAt: soon() };
    for (const [changes, text] of [
      [{ operation: 'delete' }, /operation/],
      [{ path: '' }, /path/],
      [{ path: '/../x' }, /path/],
      [{ expiresAt: 'tomorrow' }, /expiresAt/],
      [{ expiresAt: '2026-02-30T00:00:00Z' }, /expiresAt/],
      [{ expiresAt: new Date(Date.now() - 1).toISOString() }, /expiresAt/],
      [{ expiresAt: new Date(Date.now() + 90.1 * 86_400_000).toISOString() }, /90 days/],
      [{ maxBytes: 0 }, /maxBytes/],
      [{ maxUses: 1.5 }, /maxUses/],
      [{ filename: 'a/b' }, /filename/],
      [{ note: '' }, /note/],
      [{ note: 'x'.repeat(501) }, /note/],
      [{ note: 'a\0b' }, /note/],
      [{ digest: 'md5:00' }, /digest/],
      [{ operation: 'download', overwrite: true }, /overwrite/],
      [{ operation: 'download', path: '/' }, /path/],
    ] as const) {
      const answer = await cluster.api.post('/api/links', { ...good, ...changes });
      assert.equal(answer.status, 400, JSON.stringify(changes));
      assert.match(answer.text, text);
    }
    const unknown = await cluster.api.post('/api/links', { ...good, connectionId: 'never' });
    assert.equal(code(unknown), '404 unknown_connection');
    const strict = { headers: { Prefer: 'handling=strict' } };
    assert.match((await cluster.api.post('/api/links', { ...good, maxUse: 1 }, strict)).text, /maxUses/);
  });

  test('links are listed page by page, to a key those of its connections, and the account has a limit of links', async () => {
    const owner = await cluster.node(0).login(EMAIL, PASSWORD);
    const path = '/of-second';
    const made = await owner.post('/api/links', {
      operation: 'download',
      connectionId: 'second',
      path,
      expiresAt: soon(),
    });
    assert.equal(made.status, 201, made.text);
    assert.equal(linkOf(made)['keyId'], null, 'of a session there is no key that it could end with');
    const limited = cluster.node(1).client(LIMITED);
    const seen = (await limited.get('/api/links')).json['links'] as { path: string }[];
    assert.deepEqual(
      seen.map((link) => link.path),
      [path],
    );
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const { json } = await cluster.api.get('/api/links', { query: { limit: '3', cursor } });
      ids.push(...(json['links'] as { id: string }[]).map(({ id }) => id));
      cursor = (json['nextCursor'] as string | null) ?? undefined;
    } while (cursor !== undefined);
    assert.deepEqual(ids, [...new Set(ids)].sort().reverse());
    assert.equal((await cluster.api.get('/api/links', { query: { cursor: 'x' } })).status, 400);
    const rest = { operation: 'upload', connectionId: 'files', path: '/x', expiresAt: soon() };
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => both(i).api.post('/api/links', rest)));
    const codes = new Set(answers.map(code));
    assert.deepEqual(codes, new Set(['201 ', '429 share_exceeded']));
  });

  test('pages of origins that the operator names may use links, and read the answers', async () => {
    const [first] = (await cluster.api.get('/api/links', { query: { limit: '100' } })).json['links'] as {
      id: string;
    }[];
    await cluster.api.send(`/api/links/${first!.id}`, { method: 'DELETE' });
    const { at } = await make();
    const origin = { Origin: 'https://app.example.com' };
    const preflight = await cluster.api.send(at, {
      method: 'OPTIONS',
      key: '',
      headers: { ...origin, 'Access-Control-Request-Method': 'PUT' },
    });
    assert.equal(preflight.status, 204);
    const answer = await put(cluster.node(0), at, 'by-script', { headers: origin });
    assert.deepEqual([answer.status, answer.headers['access-control-allow-origin']], [201, origin.Origin]);
  });
});

async function isUnderWay(id: string): Promise<void> {
  const runs = async (): Promise<boolean> => {
    const { json } = await cluster.api.get('/api/transfers', { query: { link_id: id, status: 'pending' } });
    return json['total'] === 1;
  };
  await eventually(runs, 'the upload is under way');
}
