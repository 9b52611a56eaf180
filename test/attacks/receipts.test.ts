/**
 * Digests and receipts respect accounts and keys: a caller neither finds nor is shown what happened outside its rights.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { uuidv7 } from '../../src/base/uuid.js';
import { SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { type ApiAnswer, type ApiClient } from '../support/gateway.js';

/** The same bytes everywhere. */
const CONTENT = 'sent to everybody';
const DIGEST = `sha-256:${createHash('sha256').update(CONTENT).digest('hex')}`;
const keyOf = (name: string): string => `ftg_receipts-${name}-key-0123456789`;

describe('digests and receipts of others', () => {
  let server: TestServer;
  let gateway: TestAccount;
  let owner: ApiClient;
  let limited: ApiClient;
  let stranger: ApiClient;
  const ids: Record<'seen' | 'unseen' | 'strange' | 'copied' | 'moved', string> = {
    seen: '',
    unseen: '',
    strange: '',
    copied: '',
    moved: '',
  };
  before(async () => {
    server = await SFTP_SERVERS[0]!.start();
    const connection = { ...server.connection, digests: 'always' };
    gateway = await openAccount({
      apiKeys: [
        { name: 'all', key: keyOf('all') },
        { name: 'limited', key: keyOf('limited'), connections: ['seen'] },
      ],
      connections: [
        { id: 'seen', name: 'Seen', ...connection },
        { id: 'unseen', name: 'Unseen', ...connection },
      ],
      other: {
        apiKeys: [{ name: 'b', key: keyOf('b') }],
        connections: [{ id: 'strange', name: 'Strange', ...connection }],
      },
    });
    [owner, limited, stranger] = ['all', 'limited', 'b'].map((name) => gateway.client(keyOf(name))) as [
      ApiClient,
      ApiClient,
      ApiClient,
    ];
    const upload = async (client: ApiClient, connection: string): Promise<string> => {
      const body = { content: Buffer.from(CONTENT).toString('base64'), path: `/${connection}`, filename: 'file' };
      const answer = await client.post(`/api/upload/${connection}`, body);
      assert.equal(answer.status, 200, answer.text);
      return (answer.json['transfer'] as { id: string }).id;
    };
    ids.seen = await upload(owner, 'seen');
    ids.unseen = await upload(owner, 'unseen');
    ids.strange = await upload(stranger, 'strange');
    const from = { source_connection_id: 'unseen', source_path: '/unseen/file' };
    await owner.post('/api/copy', { ...from, dest_connection_id: 'seen', dest_path: '/seen/copy' });
    const { json } = await owner.get('/api/transfers', { query: { type: 'copy' } });
    ids.copied = (json['transfers'] as { id: string }[])[0]!.id;
    const moved = await owner.post('/api/move/seen', { from: '/seen/copy', to: '/seen/moved' });
    ids.moved = (moved.json['transfer'] as { id: string }).id;
  });
  after(async () => {
    await gateway?.stop();
    await server?.stop();
  });

  const found = async (client: ApiClient, query: Record<string, string> = {}): Promise<readonly string[]> => {
    const { status, json, text } = await client.get('/api/transfers', { query: { digest: DIGEST, ...query } });
    assert.equal(status, 200, text);
    const transfers = json['transfers'] as { id: string }[];
    assert.equal(json['total'], transfers.length, 'and the total discloses no more');
    return transfers.map(({ id }) => id).sort();
  };
  const receipt = (client: ApiClient, id: string): Promise<ApiAnswer> => client.get(`/api/transfers/${id}/receipt`);

  test('a digest finds only what the key may see, with any other filter', async () => {
    assert.deepEqual(await found(owner), [ids.seen, ids.unseen, ids.copied].sort());
    assert.deepEqual(await found(limited), [ids.seen, ids.copied].sort());
    assert.deepEqual(await found(stranger), [ids.strange]);
    for (const connection of ['unseen', 'strange', 'never']) {
      const query = { digest: DIGEST, connection_id: connection };
      const [hidden, never] = await Promise.all(
        [query, { ...query, connection_id: 'never' }].map((asked) => limited.get('/api/transfers', { query: asked })),
      );
      assert.equal(hidden!.status, never!.status);
      assert.ok(hidden!.status !== 200 || hidden!.json['total'] === 0, hidden!.text);
    }
  });

  test('a receipt is shown only with its transfer', async () => {
    const shown: readonly [ApiClient, keyof typeof ids, number][] = [
      [owner, 'seen', 200],
      [owner, 'unseen', 200],
      [owner, 'copied', 200],
      [owner, 'strange', 404],
      [limited, 'seen', 200],
      [limited, 'moved', 200],
      [limited, 'unseen', 404],
      [limited, 'strange', 404],
      // It names the connection that it was read from.
      [limited, 'copied', 403],
      [stranger, 'strange', 200],
      [stranger, 'seen', 404],
      [stranger, 'copied', 404],
    ];
    const never = uuidv7();
    for (const [client, name, status] of shown) {
      const answer = await receipt(client, ids[name]);
      assert.equal(answer.status, status, `${name}: ${answer.text}`);
      if (status !== 404) continue;
      const unknown = await receipt(client, never);
      assert.equal(answer.text.replaceAll(ids[name], ''), unknown.text.replaceAll(never, ''));
    }
    assert.doesNotMatch((await receipt(limited, ids.copied)).text, /unseen/);
  });

  test('the chain belongs to one account, and is for keys that may see all of it', async () => {
    const chainOf = async (client: ApiClient): Promise<readonly string[]> => {
      const { status, text } = await client.get('/api/receipts');
      assert.equal(status, 200, text);
      const lines = text.split('\n').slice(0, -1);
      return lines.map((line) => (JSON.parse(line) as { transferId: string }).transferId);
    };
    assert.deepEqual([...(await chainOf(owner))].sort(), [ids.seen, ids.unseen, ids.copied, ids.moved].sort());
    assert.deepEqual(await chainOf(stranger), [ids.strange]);
    const refused = await limited.get('/api/receipts');
    assert.deepEqual([refused.status, refused.headers['x-error-code']], [403, 'forbidden']);
  });
});
