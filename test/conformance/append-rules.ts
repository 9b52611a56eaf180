/**
 * An append changes nothing before its whole request was checked. A former defect: content of more than 1 MiB was sent
 * to the server as it arrived, and was in the file although the answer was 400.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { RawClient } from '../http/support/raw-client.js';
import { KEY, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import type { TestServer } from '../servers/catalogue.js';
import { eventually } from '../support/eventually.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const OLD = 'what stood there\n';
/** Kept in memory; stored in one hidden file; in several. */
const SIZES = [2 * KIB, 2 * MIB, 9 * MIB] as const;

export interface Bench {
  readonly gateway: TestGateway;
  readonly server: TestServer;
  readonly newFolder: () => string;
}

export function appendRules(bench: () => Bench): void {
  describe('a request that turns out wrong', () => {
    const isS3 = (): boolean => bench().server.connection.type === 's3';
    const send = (body: string, headers: Record<string, string> = {}, connection = 'c1'): Promise<ApiAnswer> =>
      bench().gateway.api.send(`/api/append/${connection}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body,
      });

    /** The file is unchanged, and no hidden file is left beside it. */
    async function unchanged(path: string, what: string): Promise<void> {
      const { disk } = bench().server;
      assert.equal((await disk.read(path)).toString('latin1').slice(0, 100), OLD, what);
      const folder = path.slice(0, path.lastIndexOf('/'));
      await eventually(async () => (await disk.files(folder)).join() === path, `${what}: nothing is left beside it`);
    }

    for (const size of SIZES) {
      test(`a refused one of ${size} bytes changes nothing`, async () => {
        if (isS3()) return;
        const { server, newFolder } = bench();
        const path = `${newFolder()}/log`;
        await server.disk.write(path, OLD);
        const base64 = Buffer.alloc(size, 'y').toString('base64');
        const text = 'x'.repeat(size);
        const head = (encoding: string): string =>
          `{"path":${JSON.stringify(path)},"encoding":"${encoding}","content":"`;
        const wrong: Record<string, () => Promise<ApiAnswer>> = {
          'bad base64 at the end': () => send(`${head('base64')}${base64}!"}`),
          'broken JSON behind it': () => send(`${head('text')}${text}",}`),
          'JSON that never ends': () => send(`${head('text')}${text}"`),
          'half a surrogate pair': () => send(`${head('text')}${text}\\ud800"}`),
          'a field twice': () => send(`${head('text')}${text}","path":"/other"}`),
          'a field of another type behind it': () => send(`{"path":"${path}","content":"${text}","encoding":7}`),
          'another digest': () =>
            send(`${head('text')}${text}"}`, {
              'Content-Digest': `sha-256=:${createHash('sha256').update('other').digest('base64')}:`,
            }),
        };
        for (const [what, ask] of Object.entries(wrong)) {
          const answer = await ask();
          assert.equal(answer.status, 400, `${what}: ${answer.text.slice(0, 200)}`);
          await unchanged(path, what);
        }
      });

      test(`one of ${size} bytes whose client leaves changes nothing`, async () => {
        if (isS3()) return;
        const { server, newFolder, gateway } = bench();
        const path = `${newFolder()}/log`;
        await server.disk.write(path, OLD);
        const newest = async (): Promise<string | undefined> => {
          const { json } = await gateway.api.get('/api/transfers', { query: { type: 'append', limit: '1' } });
          const [item] = json['transfers'] as { path: string; status: string }[];
          return item?.path === path ? item.status : undefined;
        };
        const client = await RawClient.open(gateway.port);
        client.send(
          `POST /api/append/c1 HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${KEY}\r\n`,
          `Content-Type: application/json\r\nContent-Length: ${size + 1_000}\r\n\r\n`,
          `{"path":"${path}","encoding":"text","content":"${'x'.repeat(size)}`,
        );
        await eventually(async () => (await newest()) === 'pending', 'the append runs');
        client.socket.resetAndDestroy();
        await eventually(async () => (await newest()) === 'failed', 'the append has failed');
        await unchanged(path, 'cut');
      });

      test(`${size} bytes are added, byte for byte, renamed or written in place`, async () => {
        if (isS3()) return;
        const { server, newFolder } = bench();
        const folder = newFolder();
        const path = `${folder}/log`;
        await server.disk.write(path, OLD);
        const content = randomBytes(size);
        const digest = `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
        for (const connection of ['c1', 'in-place']) {
          const body = JSON.stringify({ path, encoding: 'base64', content: content.toString('base64') });
          const answer = await send(body, { 'Content-Digest': digest }, connection);
          assert.equal(answer.status, 200, answer.text);
          assert.equal((answer.json['transfer'] as { appendedBytes: number }).appendedBytes, size);
        }
        const found = await server.disk.read(path);
        assert.ok(found.equals(Buffer.concat([Buffer.from(OLD), content, content])));
        assert.deepEqual(await server.disk.files(folder), [path]);
      });
    }

    test('a refused write or upload in place keeps the former file, if it is short', async () => {
      if (isS3()) return;
      const { server, newFolder, gateway } = bench();
      const folder = newFolder();
      const path = `${folder}/log`;
      await server.disk.write(path, OLD);
      const digest = `sha-256=:${createHash('sha256').update('other').digest('base64')}:`;
      const write = (body: string, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
        gateway.api.send('/api/write/in-place', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', ...headers },
          body,
        });
      const wrong: readonly (readonly [string, ApiAnswer])[] = [
        ['broken JSON', await write(`{"path":"${path}","encoding":"text","content":"new",}`)],
        ['bad base64', await write(`{"path":"${path}","encoding":"base64","content":"AAAA!"}`)],
        ['digest', await write(`{"path":"${path}","encoding":"text","content":"new"}`, { 'Content-Digest': digest })],
        [
          'digest of an upload',
          await gateway.api.send('/api/upload/in-place', {
            method: 'POST',
            query: { path: folder, filename: 'log' },
            headers: { 'Content-Type': 'application/octet-stream', 'Content-Digest': digest },
            body: 'new',
          }),
        ],
      ];
      for (const [what, answer] of wrong) assert.equal(answer.status, 400, `${what}: ${answer.text}`);
      await unchanged(path, 'refused');
    });

    test('a large one to a missing file makes nothing, not even the folder', async () => {
      if (isS3()) return;
      const { newFolder, gateway, server } = bench();
      const folder = newFolder();
      const answer = await send(
        JSON.stringify({ path: `${folder}/none`, encoding: 'text', content: 'x'.repeat(3 * MIB) }),
      );
      assert.equal(answer.status, 404, answer.text);
      const { json } = await gateway.api.get('/api/exists/c1', { query: { path: folder } });
      assert.equal(json['exists'], false);
      await server.disk.write(`${folder}/f`, 'x');
      const onFolder = await send(JSON.stringify({ path: folder, encoding: 'text', content: 'x'.repeat(3 * MIB) }));
      assert.equal(onFolder.status, 409, onFolder.text);
      assert.deepEqual(await server.disk.files(folder), [`${folder}/f`]);
    });
  });
}
