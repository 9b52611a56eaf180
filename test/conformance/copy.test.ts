import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { openAccount, type TestAccount } from '../support/account.js';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS, type ServerEntry, type TestServer } from '../servers/catalogue.js';

const ENTRIES: Readonly<Record<string, ServerEntry | undefined>> = {
  sftp: SFTP_SERVERS.find(({ name }) => name === 'OpenSSH, password'),
  single: SFTP_SERVERS.find(({ name }) => name === 'OpenSSH, one session a connection'),
  ftp: FTP_SERVERS.find(({ name }) => name === 'pure-ftpd'),
  ftps: FTP_SERVERS.find(({ name }) => name === 'vsftpd, explicit TLS, session reuse'),
  s3: S3_SERVERS[0],
};
const IDS = Object.keys(ENTRIES);

describe('copy between connections', () => {
  const servers = new Map<string, TestServer>();
  let gateway: TestAccount;

  before(async () => {
    for (const [id, entry] of Object.entries(ENTRIES)) {
      assert.ok(entry, `no server for ${id}`);
      servers.set(id, await entry.start());
    }
    const connections = [...servers].map(([id, { connection }]) => ({ id, name: id, ...connection }));
    gateway = await openAccount({ connections });
  });

  after(async () => {
    await gateway?.stop();
    for (const server of servers.values()) await server.stop();
  });

  const diskOf = (id: string): TestServer['disk'] => {
    const server = servers.get(id);
    assert.ok(server);
    return server.disk;
  };

  for (const from of IDS) {
    for (const to of IDS) {
      test(`${from} to ${to}: the bytes, the answer, one item in the history`, async () => {
        const folder = `/copy-${from}-${to}`;
        const content = randomBytes(2_500_003);
        await diskOf(from).write(`${folder}/source é.bin`, content);
        const answer = await gateway.api.post('/api/copy', {
          source_connection_id: from,
          source_path: `${folder}/source é.bin`,
          dest_connection_id: to,
          dest_path: `${folder}/into/target.bin`,
        });
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.json['fileSize'], content.length);
        assert.ok(content.equals(await diskOf(to).read(`${folder}/into/target.bin`)));
        assert.deepEqual(await diskOf(to).files(`${folder}/into`), [`${folder}/into/target.bin`]);
        const history = await gateway.api.get('/api/transfers', { query: { limit: '1' } });
        const [item] = history.json['transfers'] as { type: string; connectionId: string; status: string }[];
        assert.deepEqual([item?.type, item?.connectionId, item?.status], ['copy', to, 'success']);
      });
    }
  }

  test('an absent target path is the path of the source; a template names the copy', async () => {
    await diskOf('sftp').write('/same/place.csv', 'text');
    const send = (more: object): Promise<{ json: Record<string, unknown>; status: number }> =>
      gateway.api.post('/api/copy', {
        source_connection_id: 'sftp',
        source_path: '/same/place.csv',
        dest_connection_id: 's3',
        ...more,
      });
    assert.equal((await send({})).status, 200);
    assert.equal((await diskOf('s3').read('/same/place.csv')).toString(), 'text');
    const named = await send({ filename_template: '{name}_{year}' });
    assert.match((named.json['destination'] as { path: string }).path, /^\/same\/place_\d{4}\.csv$/);
  });

  test('copies in both directions at once, many of them', async () => {
    await diskOf('sftp').write('/both/a', randomBytes(400_000));
    await diskOf('ftps').write('/both/b', randomBytes(400_000));
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const [from, to, name] = index % 2 === 0 ? ['sftp', 'ftps', 'a'] : ['ftps', 'sftp', 'b'];
        return gateway.api.post('/api/copy', {
          source_connection_id: from,
          source_path: `/both/${name}`,
          dest_connection_id: to,
          dest_path: `/both/out/${index}`,
        });
      }),
    );
    for (const answer of answers) assert.equal(answer.status, 200, answer.text);
    assert.equal((await diskOf('sftp').files('/both/out')).length, 20);
    assert.equal((await diskOf('ftps').files('/both/out')).length, 20);
  });

  test('a source that is missing, or a folder, does not change the target', async () => {
    await diskOf('ftp').write('/kept/f', 'kept');
    await diskOf('sftp').write('/kept/folder/f', 'x');
    const copy = (source_path: string): Promise<{ status: number }> =>
      gateway.api.post('/api/copy', {
        source_connection_id: 'sftp',
        source_path,
        dest_connection_id: 'ftp',
        dest_path: '/kept/f',
      });
    assert.equal((await copy('/kept/absent')).status, 404);
    assert.equal((await copy('/kept/folder')).status, 409);
    assert.equal((await diskOf('ftp').read('/kept/f')).toString(), 'kept');
    assert.deepEqual(await diskOf('ftp').files('/kept'), ['/kept/f']);
  });
});
