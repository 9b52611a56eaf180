/**
 * Clients that move next to nothing and keep the sessions of a server: with a link, a key that may write or read, a
 * resumable upload, or the URL of their own server. Another account has the same login on that server. A failure looks
 * like a 503 for it, or for the attacked account, for as long as the attacker likes.
 *
 * The pool has two sessions, and a client counts as slow after two seconds. Every request gets a session within the two
 * minutes that the test allows.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type net from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { RawClient } from '../http/support/raw-client.js';
import { FTP_SERVERS, SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { eventually } from '../support/eventually.js';
import { type ApiClient, startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { startTogether } from '../support/together.js';

const KIB = 1024;
const A = 'ftg_slow-attacker-key-0123456789-abc';
const B = 'ftg_slow-victim-key-0123456789-abcde';
const SESSIONS = 2;
const LARGE = 32 * KIB * KIB;
const SLOW = { belowBytesPerSecond: 4_096, afterMs: 2_000 };

describe('side by side', { concurrency: true }, () => {
  for (const protocol of ['ftp', 'sftp'] as const) {
    describe(`slow clients of one login over ${protocol}`, { concurrency: 1 }, () => {
      let server: TestServer;
      /** The attacker's pace: next to nothing. */
      let own: ScriptedFtp;
      const sending: net.Socket[] = [];
      let isSending = true;
      let gateway: TestGateway;
      let attacker: ApiClient;
      let victim: ApiClient;
      const open: RawClient[] = [];
      const timers: NodeJS.Timeout[] = [];

      before(async () => {
        const entry = (protocol === 'ftp' ? FTP_SERVERS : SFTP_SERVERS)[0] ?? assert.fail();
        [server, own] = await startTogether([
          entry.start(),
          startScripted({
            RETR: async (_path, { say, data }) => {
              if (!isSending) return say('450 no');
              say('150 go');
              const to = await data();
              sending.push(to);
              to.write(Buffer.alloc(1_000));
              timers.push(setInterval(() => to.writable && to.write(Buffer.alloc(1)), 500));
            },
          }),
        ]);
        own.folders.add('/same');
        const pool =
          protocol === 'ftp' ? { maxSessions: SESSIONS } : { maxSessions: 1, maxChannelsPerSession: SESSIONS };
        const account = (email: string, key: string, id: string) => ({
          email,
          plan: 'pro',
          apiKeys: [{ name: 'all', key }],
          connections: [{ id, name: id, ...server.connection, pool }],
        });
        const { port, username, password } = own;
        const login = { type: 'ftp', host: '127.0.0.1', port, username, password, tls: 'none', defaultPath: '/' };
        const attacking = account('a@example.com', A, 'a-files');
        gateway = await startGateway({
          config: {
            pools: { giveWay: SLOW },
            network: { urlFetch: { allow: ['127.0.0.0/8'] } },
            accounts: [
              { ...attacking, connections: [...attacking.connections, { id: 'a-own', name: 'Own', ...login }] },
              account('b@example.com', B, 'b-files'),
            ],
          },
        });
        attacker = gateway.client(A);
        victim = gateway.client(B);
      });
      after(async () => {
        for (const timer of timers) clearInterval(timer);
        for (const { socket } of open) socket.destroy();
        await gateway?.stop();
        await own?.stop();
        await server?.stop();
      });

      const base = (): string => server.base ?? '';

      /** Sends the head, the first bytes, and then one byte at a time. */
      async function trickle(head: string, first = 0): Promise<RawClient> {
        const client = await RawClient.open(gateway.port);
        client.send(head, Buffer.alloc(first, 'x'));
        timers.push(setInterval(() => client.socket.writable && client.send('x'), 500));
        open.push(client);
        return client;
      }

      const upload = (name: string): string =>
        `POST /api/upload/a-files?path=${base()}/&filename=${name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${A}\r\n` +
        'Content-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\r\n';

      async function end(): Promise<void> {
        for (const timer of timers.splice(0)) clearInterval(timer);
        for (const { socket } of open.splice(0)) socket.destroy();
        await eventually(async () => (await leased()) === 0, 'all leases have come back');
      }

      async function leased(): Promise<number> {
        const { text } = await attacker.get('/metrics');
        return [...text.matchAll(/^ftg_pool_leases\{[^}]*\} (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
      }

      const full = (leases = SESSIONS): Promise<void> =>
        eventually(async () => (await leased()) >= leases, 'all sessions are taken');

      async function victimWorks(): Promise<void> {
        const answer = await victim.send(`/api/upload/b-files?path=${base()}/&filename=mine.txt`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/octet-stream' },
          body: 'mine',
        });
        assert.equal(answer.status, 200, answer.text);
      }

      const first = (clients: readonly RawClient[]): Promise<RawClient> =>
        Promise.race(clients.map(async (client) => (await client.until((received) => received.length > 0), client)));

      async function failures(): Promise<string[]> {
        const { json } = await attacker.get('/api/transfers?status=failed&limit=100');
        return (json['transfers'] as { errorMessage: string }[]).map(({ errorMessage }) => errorMessage);
      }

      const endOwn = (): void => {
        // A repeated request must not start again.
        isSending = false;
        for (const socket of [...own.sessions, ...sending.splice(0)]) socket.destroy();
      };

      const filesOf = async (name: string): Promise<string[]> =>
        (await server.disk.files(`${base()}/`)).filter((file) => file.includes(name));

      test('by one upload link', async () => {
        const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
        const made = await attacker.post('/api/links', {
          operation: 'upload',
          connectionId: 'a-files',
          path: `${base()}/`,
          expiresAt,
        });
        const { url } = made.json['link'] as { url: string };
        const put = (name: string): string =>
          `PUT ${new URL(url).pathname}?filename=${name} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n`;
        const clients = await Promise.all(Array.from({ length: 10 }, (_, i) => trickle(put(`link-${i}.bin`))));
        const refused = await (await first(clients)).answer();
        assert.deepEqual([refused.status, refused.field('x-error-code')], [429, 'share_exceeded']);
        assert.match(refused.body.toString(), /8 transfers under way/);
        await eventually(async () => (await leased()) > 0, 'one of them has a session');
        assert.equal(await leased(), 1, 'links have a quarter of the sessions, and one at least');
        await victimWorks();
        assert.equal((await attacker.get(`/api/list/a-files?path=${base()}/`)).status, 200);
        await end();
        assert.deepEqual(await filesOf('link-'), []);
        held({
          area: 'Attacks',
          what: 'One upload link, ten uploads of a byte every half second',
          tries: 1,
          done: `All at once, to a server of two sessions (${protocol})`,
          held: 'links use one session; the ninth and tenth get 429; both accounts of the server continue',
        });
      });

      test('by uploads with a key that may write', async () => {
        const clients = await Promise.all(['one', 'two'].map((name) => trickle(upload(`slow-${name}.bin`), 1_000)));
        await full();
        await victimWorks();
        const answer = await (await first(clients)).answer();
        assert.deepEqual(
          [answer.status, answer.field('x-error-code'), answer.field('retry-after')],
          [503, 'too_slow', '1'],
        );
        assert.match(answer.body.toString(), /fewer than 4096 bytes a second for 2000 ms/);
        assert.equal(clients.filter(({ isClosed }) => isClosed).length <= 1, true, 'only one gave way');
        assert.ok((await failures()).some((text) => text.includes('others wait for a session')));
        await end();
        assert.deepEqual(await filesOf('slow-'), []);
        held({
          area: 'Attacks',
          what: 'Uploads of a byte every half second take all sessions',
          tries: 1,
          done: `With a key that may write, while another account with the same login uploads (${protocol})`,
          held: 'the slowest gives way with 503 too_slow and its row in the history; no part of a file is left',
        });
      });

      test('by unread downloads', async () => {
        await server.disk.write(`${base()}/large.bin`, Buffer.alloc(LARGE, 'y'));
        const clients = await Promise.all(
          [1, 2].map(async () => {
            const client = await RawClient.open(gateway.port);
            client.socket.pause();
            open.push(client);
            return client.send(
              `GET /api/download/a-files?path=${base()}/large.bin HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${A}\r\n\r\n`,
            );
          }),
        );
        await full();
        await victimWorks();
        const before = (await failures()).length;
        assert.ok(before > 0);
        for (const client of clients) client.socket.resume();
        // The other one also closes, when it has had its whole body and rests.
        const isCut = ({ isClosed, received }: RawClient): boolean => isClosed && received.length < LARGE;
        await eventually(() => clients.some(isCut), 'one was cut before the end of its body');
        await end();
        held({
          area: 'Attacks',
          what: 'Downloads that are not read take all sessions',
          tries: 1,
          done: `With a key that may read, while another account with the same login uploads (${protocol})`,
          held: 'the slowest is cut as too_slow; the other account is served',
        });
      });

      test('by resumable uploads, which keep their bytes', async () => {
        const sent = 100 * KIB;
        const version = { 'Tus-Resumable': '1.0.0' };
        const begin = async (name: string): Promise<string> => {
          const metadata = `filename ${Buffer.from(name).toString('base64')},path ${Buffer.from(`${base()}/`).toString('base64')}`;
          const made = await attacker.send('/api/uploads/a-files', {
            method: 'POST',
            headers: { ...version, 'Upload-Length': String(2 * sent), 'Upload-Metadata': metadata },
          });
          assert.equal(made.status, 201, made.text);
          return made.headers['location'] as string;
        };
        const places = [await begin('tus-one.bin'), await begin('tus-two.bin')];
        const patch = (place: string): string =>
          `PATCH ${place} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${A}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n` +
          `Content-Type: application/offset+octet-stream\r\nContent-Length: ${2 * sent}\r\n\r\n`;
        const clients = await Promise.all(places.map((place) => trickle(patch(place), sent)));
        await full();
        await victimWorks();
        const gone = await first(clients);
        const answer = await gone.answer();
        assert.deepEqual([answer.status, answer.field('x-error-code')], [503, 'too_slow']);
        const place = places[clients.indexOf(gone)] ?? assert.fail();
        await end();
        const far = await attacker.send(place, { method: 'HEAD', headers: version });
        const offset = Number(far.headers['upload-offset']);
        assert.ok(offset >= sent, `${offset} bytes are kept`);
        const rest = await attacker.send(place, {
          method: 'PATCH',
          headers: { ...version, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' },
          body: Buffer.alloc(2 * sent - offset, 'x'),
        });
        assert.equal(rest.status, 204, rest.text);
        const [name] = await filesOf(place === places[0] ? 'tus-one' : 'tus-two');
        assert.deepEqual(await server.disk.read(name ?? ''), Buffer.alloc(2 * sent, 'x'));
        held({
          area: 'Attacks',
          what: 'Resumable uploads of a byte every half second take all sessions',
          tries: 1,
          done: `While another account with the same login uploads (${protocol})`,
          held: 'the slowest gives way with 503 too_slow, keeps its bytes, and continues later',
        });
      });

      test('by url uploads from a slow server', async () => {
        const slow = http.createServer((_, response) => {
          response.writeHead(200, { 'Content-Length': 1_000_000 }).write('x'.repeat(1_000));
          timers.push(setInterval(() => response.write('x'), 500));
        });
        slow.listen(0, '127.0.0.1');
        await once(slow, 'listening');
        const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`;
        const uploads = ['one', 'two'].map((name) =>
          attacker.post('/api/upload/a-files', { url, path: `${base()}/`, filename: `url-${name}.bin` }),
        );
        await full();
        await victimWorks();
        const answer = await Promise.race(uploads);
        assert.deepEqual([answer.status, answer.headers['x-error-code']], [503, 'too_slow'], answer.text);
        slow.closeAllConnections();
        slow.close();
        await Promise.all(uploads);
        await end();
        assert.deepEqual(await filesOf('url-'), []);
        held({
          area: 'Attacks',
          what: 'Url uploads from a server that sends a byte every half second take all sessions',
          tries: 1,
          done: `While another account with the same login uploads (${protocol})`,
          held: 'the slowest gives way with 503 too_slow; no part of a file is left',
        });
      });

      for (const [what, size] of [
        ['a long file', 1_000_000],
        ['a short one', 20_000],
      ] as const) {
        test(`by copies of ${what} from their own slow server`, async () => {
          isSending = true;
          own.files.set('/slow.bin', Buffer.alloc(size));
          const copies = ['one', 'two'].map((name) =>
            attacker.post('/api/copy', {
              source_connection_id: 'a-own',
              source_path: '/slow.bin',
              dest_connection_id: 'a-files',
              dest_path: `${base()}/copy-${name}.bin`,
            }),
          );
          await full(2 * SESSIONS);
          await victimWorks();
          const answer = await Promise.race(copies);
          assert.deepEqual([answer.status, answer.headers['x-error-code']], [503, 'too_slow'], answer.text);
          endOwn();
          await Promise.all(copies);
          await end();
          assert.deepEqual(await filesOf('copy-'), []);
          held({
            area: 'Attacks',
            what: `Copies of ${what} from a server that sends a byte every half second`,
            tries: 1,
            done: `They take all sessions of the target, which another account uses, too (${protocol})`,
            held: 'the slowest gives way with 503 too_slow; no part of a file is left',
          });
        });
      }

      test('by syncs that compare with their own slow server', async () => {
        isSending = true;
        own.files.set('/same/one.bin', Buffer.alloc(1_000_000));
        own.files.set('/same/two.bin', Buffer.alloc(1_000_000));
        for (const name of ['one', 'two'])
          await server.disk.write(`${base()}/same/${name}.bin`, Buffer.alloc(1_000_000));
        const made = await attacker.post('/api/jobs', {
          type: 'sync',
          compare: 'digest',
          source: { connectionId: 'a-own', path: '/same' },
          destination: { connectionId: 'a-files', path: `${base()}/same` },
        });
        const { id } = made.json['job'] as { id: string };
        await full(2 * SESSIONS);
        await victimWorks();
        await attacker.post(`/api/jobs/${id}/cancel`, {});
        endOwn();
        await end();
      });

      test('an honest one is never cut while no request waits', async () => {
        const [size, atOnce, step] = [70_000, 60_000, 100];
        const client = await RawClient.open(gateway.port);
        client.send(upload('honest.bin').replace('1000000', String(size)), Buffer.alloc(atOnce, 'x'));
        // A thousand bytes a second, for longer than it takes to count as slow.
        for (let at = atOnce; at < size; at += step) {
          client.send(Buffer.alloc(step, 'x'));
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        assert.equal((await client.answer()).status, 200);
        client.socket.destroy();
      });
    });
  }
});
