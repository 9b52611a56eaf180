/**
 * Attackers who have a link, or try to get one. Each attack is a row: what was done, and what held. A failure is a
 * file where none may be, a byte of a file that no link is for, or an answer that reveals something to a stranger.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { type RawAnswer, RawClient } from '../http/support/raw-client.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { withSql } from '../storage/databases.js';
import { eventually } from '../support/eventually.js';
import { FRONT_END } from '../support/front-end.js';
import {
  KEY,
  startGateway,
  type ApiAnswer,
  type ApiClient,
  type ApiRequest,
  type TestGateway,
} from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { startTogether } from '../support/together.js';
import { Tus, VERSION } from '../uploads/support.js';

const KIB = 1024;
const ADMIN = 'ftg_links-admin-key-0123456789-abcd';
const OTHER = 'ftg_links-other-key-0123456789-abcd';
const LIMITED = 'ftg_links-limited-key-0123456789-ab';
const READER = 'ftg_links-reader-key-0123456789-abc';
/** In the names and files that no link is for. */
const CANARY = 'canary-71f3';
const SECRET_FILE = 'the secret report';

let sshd: TestSshd;
let postgres: PostgresServer;
let gateway: TestGateway;
let owner: ApiClient;
let visitor: ApiClient;
/** The root of the connection, on the disk of its server. */
let inside: string;
let folders = 0;
/** Every secret of a link that was made. */
const secrets: string[] = [];
/** Everything that strangers got as an answer. */
const sentAnswers: string[] = [];

before(async () => {
  [sshd, postgres] = await startTogether([startSshd(), startPostgres()]);
  inside = join(sshd.files, 'inside');
  mkdirSync(inside);
  mkdirSync(join(sshd.files, CANARY));
  writeFileSync(join(sshd.files, `${CANARY}.txt`), CANARY);
  const { port, username, clientKeyFile } = sshd;
  const login = { type: 'sftp', host: '127.0.0.1', port, username, privateKeyFile: clientKeyFile, rootPath: inside };
  gateway = await startGateway({
    env: { GATEWAY_MASTER_KEY: 'ab'.repeat(32) },
    config: {
      database: { url: postgres.url },
      log: { level: 'trace' },
      accounts: [
        {
          email: 'a@example.com',
          plan: 'pro',
          apiKeys: [
            { name: 'all', key: KEY },
            { name: 'admin', key: ADMIN, scopes: ['read', 'write', 'admin'] },
            { name: 'limited', key: LIMITED, connections: ['second'] },
            { name: 'reader', key: READER, scopes: ['read'] },
          ],
          connections: [
            { id: 'depot-9', name: 'Depot', ...login, defaultPath: '/' },
            { id: 'second', name: 'Second', ...login, defaultPath: '/' },
            { id: 'nowhere', name: 'Nowhere', ...login, port: 1, host: `${CANARY}.invalid` },
          ],
        },
        { email: 'b@example.com', plan: 'pro', apiKeys: [{ name: 'b', key: OTHER }], connections: [] },
      ],
    },
  });
  owner = gateway.client(KEY);
  visitor = gateway.client('');
});
after(async () => {
  await gateway?.stop();
  await Promise.all([sshd?.stop(), postgres?.stop()]);
});

interface Made {
  readonly id: string;
  readonly url: string;
  /** Path of its url. */
  readonly at: string;
  readonly token: string;
}

async function make(link: object, client: ApiClient = owner): Promise<Made> {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const answer = await client.post('/api/links', { connectionId: 'depot-9', expiresAt, ...link });
  assert.equal(answer.status, 201, answer.text);
  const { id, url } = answer.json['link'] as { id: string; url: string };
  const at = new URL(url).pathname;
  const token = at.slice('/l/'.length);
  secrets.push(token);
  return { id, url, at, token };
}

/** An upload link to a new folder, which is made by the first file. */
async function uploadLink(link: object = {}, client = owner): Promise<Made & { readonly folder: string }> {
  const folder = `/folder-${++folders}`;
  return { ...(await make({ operation: 'upload', path: folder, ...link }, client)), folder };
}

/** One whose path is a folder, even if its users leave the name out. */
async function uploadFolderLink(): Promise<Made & { readonly folder: string }> {
  const folder = `/folder-${++folders}`;
  return { ...(await make({ operation: 'upload', path: `${folder}/` })), folder };
}

async function downloadLink(
  link: object = {},
  content: string | Buffer = SECRET_FILE,
): Promise<Made & { readonly file: string }> {
  const file = `/file-${++folders}.txt`;
  writeFileSync(inside + file, content);
  return { ...(await make({ operation: 'download', path: file, ...link })), file };
}

async function use(target: string, request: ApiRequest = {}): Promise<ApiAnswer> {
  const answer = await visitor.send(target, request);
  sentAnswers.push(`${answer.status} ${JSON.stringify(answer.headers)} ${answer.text}`);
  return answer;
}

const put = (
  target: string,
  filename: string | undefined,
  body: Buffer | string | Readable = 'x',
  more: ApiRequest = {},
) => use(target, { ...more, method: 'PUT', query: { filename, ...more.query }, body });

/** Resumable uploads by a link, whose answers are searched as well. */
const inPieces = (at: string): Tus => new Tus({ ...visitor, port: gateway.port, send: use } as ApiClient, '', at);
const filesIn = (folder: string): string[] => (existsSync(inside + folder) ? readdirSync(inside + folder).sort() : []);
const code = ({ status, headers }: ApiAnswer): string => `${status} ${headers['x-error-code'] as string}`;
const linkNow = async (id: string) => (await owner.get(`/api/links/${id}`)).json['link'] as Record<string, unknown>;
/** Nothing outside of the root has changed. */
function nothingOutside(): void {
  assert.deepEqual(readdirSync(sshd.files).sort(), [CANARY, `${CANARY}.txt`, 'inside']);
  assert.deepEqual(readdirSync(join(sshd.files, CANARY)), []);
}
const usedActions = async (): Promise<number> => {
  const [row] = await withSql(
    postgres.url,
    (sql) => sql<{ used: string }[]>`select coalesce(sum(actions_recorded), 0) as used from monthly_usage`,
  );
  return Number(row?.used);
};
const transfersTotal = async (): Promise<unknown> => (await owner.get('/api/transfers')).json['total'];
const html = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

interface Attack {
  readonly what: string;
  readonly done: string;
  readonly held: string;
  /** Resolves with the number of tries. */
  readonly run: () => Promise<number>;
}

const ATTACKS: readonly Attack[] = [
  {
    what: 'Links: near misses of a good one',
    done: 'each character changed, left out, doubled or in the other case; blanks, NUL and line ends after it',
    held: '404, each time the same answer; nothing is read',
    run: async () => {
      const { token } = await downloadLink();
      const at = 7;
      const other = token[at] === 'a' ? 'b' : 'a';
      const tries = [
        token.slice(0, at) + other + token.slice(at + 1),
        token.slice(0, -1),
        `${token}a`,
        token.slice(1),
        token.toUpperCase() === token ? token.toLowerCase() : token.toUpperCase(),
        [...token].reverse().join(''),
        `${token}%20`,
        `%20${token}`,
      ];
      for (const one of tries) assert.equal(code(await use(`/l/${one}`)), '404 unknown_item', one);
      for (const one of [`${token}%00`, `${token}%0d%0a`]) assert.equal((await use(`/l/${one}`)).status, 400, one);
      return tries.length + 2;
    },
  },
  {
    what: 'Links: telling what exists from what is answered',
    done: 'secrets that never were, of other forms, ids of links and transfers, API keys, a link whose connection is gone',
    held: 'byte for byte one answer, with the same header fields, in JSON and as a page',
    run: async () => {
      const { id } = await downloadLink();
      const admin = gateway.client(ADMIN);
      await admin.post('/manage/connections/second/duplicate', { id: 'short-lived', name: 'Short-lived' });
      const gone = await make({ operation: 'upload', path: '/x', connectionId: 'short-lived' });
      assert.equal((await admin.send('/manage/connections/short-lived', { method: 'DELETE' })).status, 200);
      const tries = [randomBytes(16).toString('hex'), 'x', id, KEY, 'a'.repeat(3000), '%F0%9F%91%8D', gone.token];
      for (const headers of [{}, html]) {
        const answers = new Set<string>();
        for (const one of tries) {
          const { status, headers: fields, text } = await use(`/l/${one}`, { headers });
          const { date: _, 'x-request-id': __, ...others } = fields;
          answers.add(JSON.stringify([status, others, text]));
        }
        assert.equal(answers.size, 1, [...answers].join('\n'));
      }
      return tries.length * 2;
    },
  },
  {
    what: 'Links: the same use once more',
    done: 'a link for one upload used again with the same and with other names, with the key of the first request, by GET',
    held: '410 gone; the first file stays as it is',
    run: async () => {
      const { at, folder } = await uploadLink({ maxUses: 1 });
      const headers = { 'Idempotency-Key': 'one' };
      assert.equal((await put(at, 'a', 'first', { headers })).status, 201);
      for (const name of ['a', 'b']) assert.equal(code(await put(at, name, 'second', { headers })), '410 gone');
      assert.equal(code(await use(at)), '410 gone');
      assert.deepEqual(filesIn(folder), ['a']);
      assert.equal(readFileSync(`${inside}${folder}/a`, 'utf8'), 'first');
      return 3;
    },
  },
  {
    what: 'Links: many uses at once of one that is for a single upload',
    done: '24 uploads of other names at the same moment',
    held: 'one file is stored, the others are 410 gone; it counts once',
    run: async () => {
      const { id, at, folder } = await uploadLink({ maxUses: 1 });
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, i) => put(at, `file-${i}`, Buffer.alloc(100 * KIB, i))),
      );
      const counts = answers.map(code).sort();
      assert.deepEqual(counts, ['201 undefined', ...Array<string>(23).fill('410 gone')]);
      assert.equal(filesIn(folder).length, 1);
      assert.deepEqual([(await linkNow(id))['uses'], (await linkNow(id))['state']], [1, 'used_up']);
      return 24;
    },
  },
  {
    what: 'Links: many uses at once of one that is for three downloads',
    done: '24 downloads at the same moment, of all and of parts',
    held: 'three are answered with bytes, each range being one use',
    run: async () => {
      const { id, at } = await downloadLink({ maxUses: 3 });
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, i) => use(at, i % 2 === 0 ? {} : { headers: { Range: `bytes=0-${i}` } })),
      );
      assert.equal(answers.filter(({ status }) => status === 200 || status === 206).length, 3);
      assert.equal(answers.filter((answer) => code(answer) === '410 gone').length, 21);
      assert.equal((await linkNow(id))['uses'], 3);
      return 24;
    },
  },
  {
    what: 'Links: all but the end of a single download, again and again',
    done: 'a long download for which the link is good once, broken off before its end, 20 times',
    held: 'each is given back and is in the history as failed; then the link is used up',
    run: async () => {
      const { id, at } = await downloadLink({ maxUses: 1 }, randomBytes(8 * KIB * KIB));
      for (let i = 0; i < 20; i++) {
        const response = await visitor.open(at);
        assert.equal(response.statusCode, 200, `try ${i}`);
        response.destroy();
        const isFree = async () => {
          const failed = await owner.get('/api/transfers', { query: { link_id: id, status: 'failed' } });
          return failed.json['total'] === i + 1;
        };
        await eventually(isFree, 'the use is given back');
      }
      assert.equal(code(await use(at)), '410 gone');
      assert.deepEqual([(await linkNow(id))['uses'], (await linkNow(id))['state']], [0, 'used_up']);
      return 20;
    },
  },
  {
    what: 'Links: other methods on an upload link',
    done: 'GET, HEAD, POST, PATCH, DELETE, OPTIONS, MKCOL, COPY, MOVE, PROPFIND and TRACE, once the folder holds files',
    held: 'no file is listed, read, changed or deleted: 405, 412, 501 or no answer',
    run: async () => {
      const { at, folder } = await uploadLink();
      await put(at, 'mine.txt', SECRET_FILE);
      const methods = [
        'GET',
        'HEAD',
        'POST',
        'PATCH',
        'DELETE',
        'OPTIONS',
        'MKCOL',
        'COPY',
        'MOVE',
        'PROPFIND',
        'TRACE',
      ];
      for (const method of methods) {
        const answer = await use(at, { method }).catch(() => undefined);
        assert.ok(
          answer === undefined || [method === 'OPTIONS' ? 204 : 400, 405, 412, 501].includes(answer.status),
          `${method}: ${answer?.status ?? ''}`,
        );
        assert.doesNotMatch(answer?.text ?? '', /mine|secret/);
      }
      assert.equal((await use(`${at}`, { query: { download: '1' } })).status, 405);
      assert.deepEqual(filesIn(folder), ['mine.txt']);
      return methods.length + 1;
    },
  },
  {
    what: 'Links: other methods on a download link',
    done: 'PUT with and without a name, DELETE, POST and PATCH',
    held: '405; the file is what it was',
    run: async () => {
      const { at, file } = await downloadLink();
      for (const answer of [await put(at, undefined), await put(at, 'x'), await put(at, file.slice(1))]) {
        assert.equal(code(answer), '405 method_not_allowed');
        assert.equal(answer.headers['allow'], 'GET, HEAD');
      }
      for (const method of ['DELETE', 'POST', 'PATCH']) assert.equal((await use(at, { method })).status, 405);
      assert.equal(readFileSync(inside + file, 'utf8'), SECRET_FILE);
      return 6;
    },
  },
  {
    what: 'Links: another method in a header field, a query or another protocol',
    done: 'X-HTTP-Method-Override, X-Method-Override and _method, with a POST and on an upload in pieces',
    held: 'only the method of the request counts, except for those of tus on an upload in pieces',
    run: async () => {
      const { at, folder } = await uploadLink();
      await put(at, 'mine.txt');
      for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
        for (const method of ['DELETE', 'GET']) {
          assert.equal((await use(at, { method: 'POST', headers: { [name]: method } })).status, 412);
          const upload = `${at}/0199c2f4-6f5e-7c1a-9a51-0d2f64b1d001`;
          const meant = await use(upload, { method: 'POST', headers: { ...VERSION, [name]: method } });
          // Only the one that tus defines, and only for what the link may do.
          const isTus = name === 'X-HTTP-Method-Override' && method === 'DELETE';
          assert.equal(code(meant), isTus ? '404 unknown_upload' : '400 bad_request');
        }
      }
      assert.equal((await use(at, { query: { _method: 'DELETE' } })).status, 405);
      assert.deepEqual(filesIn(folder), ['mine.txt']);
      return 13;
    },
  },
  {
    what: 'Links: more path after the secret',
    done: 'slashes, dots, encoded slashes, parameters and file names after it, of both kinds of links',
    held: '404, 400 or 405: a link has no places below it but uploads in pieces',
    run: async () => {
      const [up, down] = [await uploadLink(), await downloadLink()];
      const tails = [
        '/',
        '/x',
        '/..',
        '/../..',
        '//',
        '/%2e%2e',
        '%2f..',
        '%2f..%2fcanary',
        '%5c..',
        ';x=1',
        '/x?filename=y',
        '.txt',
      ];
      for (const tail of tails) {
        const answers = [await use(up.at + tail, { method: 'PUT', body: 'x' }), await use(down.at + tail)];
        for (const { status, text } of answers) {
          assert.ok([400, 404, 405].includes(status), `${tail}: ${status}`);
          assert.doesNotMatch(text, /secret report/);
        }
      }
      assert.deepEqual(filesIn(up.folder), []);
      return tails.length * 2;
    },
  },
  {
    what: 'Links: fields of other endpoints in the query',
    done: 'path, connectionId, overwrite, filename_template, mtime, digest, maxBytes, format, recursive, rawName, id',
    held: 'none counts: each is named as ignored, the file goes where the link says, and replaces none',
    run: async () => {
      const { at, folder } = await uploadLink({ maxBytes: 10 });
      await put(at, 'taken', 'mine');
      const queries = {
        path: '/elsewhere',
        connectionId: 'second',
        overwrite: 'true',
        filename_template: '../{filename}',
        operation: 'download',
        mtime: '2020-01-01T00:00:00Z',
        digest: 'none',
        maxBytes: '1000',
        id: 'x',
      };
      for (const [name, value] of Object.entries(queries)) {
        const answer = await put(at, `file-${name}`, 'x', { query: { [name]: value } });
        assert.equal(answer.status, 201, answer.text);
        assert.equal(answer.headers['x-ignored-fields'], name);
      }
      assert.equal(code(await put(at, 'taken', 'other', { query: { overwrite: 'true' } })), '409 already_exists');
      assert.equal(code(await put(at, 'large', 'x'.repeat(11), { query: { maxBytes: '1000' } })), '413 too_large');
      assert.deepEqual(filesIn(folder), [...Object.keys(queries).map((name) => `file-${name}`), 'taken'].sort());
      assert.ok(!existsSync(`${inside}/elsewhere`));
      const down = await downloadLink();
      for (const query of [
        { path: '/' },
        { format: 'zip' },
        { format: 'json' },
        { recursive: 'true' },
        { rawName: 'Lg==' },
      ]) {
        assert.equal((await use(down.at, { query })).text, SECRET_FILE);
      }
      return Object.keys(queries).length + 7;
    },
  },
  {
    what: 'Links: names of files that lead elsewhere',
    done: '"..", slashes, backslashes, control characters, line ends, NUL and 300 bytes as filename and in Content-Disposition',
    held: '400, or only the last segment; encoded twice they are names like any other; nothing outside of the folder',
    run: async () => {
      const { at, folder } = await uploadFolderLink();
      const names = [
        '../x',
        'x\\..\\..\\y',
        '..',
        '.',
        'a/b',
        '/etc/x',
        `../../${CANARY}/x`,
        'a\r\nb',
        'a\nb',
        'a\tb',
        'a\0b',
        'x'.repeat(300),
      ];
      for (const name of names) assert.equal((await put(at, name)).status, 400, JSON.stringify(name));
      assert.equal((await put(at, undefined)).status, 400);
      for (const value of ['attachment; filename="../../x1"', `attachment; filename*=UTF-8''..%2F..%2Fx2`]) {
        assert.equal((await put(at, undefined, 'x', { headers: { 'Content-Disposition': value } })).status, 201, value);
      }
      for (const name of ['%2e%2e%2fx', '‥', '／etc']) assert.equal((await put(at, name)).status, 201, name);
      assert.deepEqual(filesIn(folder), ['%2e%2e%2fx', 'x1', 'x2', '‥', '／etc'].sort());
      nothingOutside();
      return names.length + 6;
    },
  },
  {
    what: 'Links: folders that lead elsewhere',
    done: '"..", leading, double and closing slashes, hidden names, backslashes, control characters, 33 names and 300 bytes as the folder of a file and of an upload in pieces; a folder for a link that takes none',
    held: '400; nothing is made, inside or outside of the folder; other names are folders below it',
    run: async () => {
      const [{ at, folder }, plain] = [await uploadLink({ folders: true }), await uploadLink()];
      const names = [
        ...['..', '.', '../x', 'a/../../x', `../${CANARY}`, '/etc', '/', 'a//b', 'a/', '.ssh', 'a/.git/hooks'],
        ...['a\\b', '..\\..\\x', 'a\nb', 'a\0b', 'a/'.repeat(32) + 'a', 'x'.repeat(300), 'a/'.repeat(600)],
      ];
      const [tus, tusOfPlain] = [inPieces(at), inPieces(plain.at)];
      for (const name of names) {
        const what = JSON.stringify(name);
        assert.equal((await put(at, 'f', 'x', { query: { folder: name } })).status, 400, what);
        assert.equal((await tus.create({ filename: 'f', folder: name }, { 'Upload-Length': '1' })).status, 400, what);
      }
      assert.equal(code(await put(plain.at, 'f', 'x', { query: { folder: 'a' } })), '400 bad_request');
      const inPlain = await tusOfPlain.create({ filename: 'f', folder: 'a' }, { 'Upload-Length': '1' });
      assert.equal(code(inPlain), '400 bad_request');
      assert.equal((await put(at, undefined, 'x', { query: { folder: 'a' } })).status, 400, 'no name');
      assert.deepEqual([filesIn(folder), filesIn(plain.folder)], [[], []]);
      for (const name of ['%2e%2e', '／etc'])
        assert.equal((await put(at, 'f', 'x', { query: { folder: name } })).status, 201, name);
      assert.deepEqual(filesIn(folder), ['%2e%2e', '／etc']);
      nothingOutside();
      return names.length * 2 + 5;
    },
  },
  {
    what: 'Links: hidden files',
    done: '.htaccess, .ssh, .bashrc and a temporary name of the gateway as names of a stranger',
    held: '400: only the maker of the link can fix such a name',
    run: async () => {
      const { at, folder } = await uploadLink();
      const names = ['.htaccess', '.ssh', '.bashrc', '.ftg-upload.tmp'];
      for (const name of names) assert.equal(code(await put(at, name)), '400 bad_request', name);
      const fixed = await uploadLink({ filename: '.env' });
      assert.equal((await put(fixed.at, '.bashrc')).status, 201);
      assert.deepEqual([filesIn(folder), filesIn(fixed.folder)], [[], ['.env']]);
      return names.length;
    },
  },
  {
    what: 'Links: uploads in pieces of others',
    done: 'one begun with a link asked for, continued and ended by another link, a download link and keys; one of a key by a link',
    held: '404 or 405: each is known only where it was begun, and continues there',
    run: async () => {
      const [mine, other, down] = [await uploadLink(), await uploadLink(), await downloadLink()];
      const url = await inPieces(mine.at).begin({ filename: 'mine.bin' }, 10);
      const id = url.slice(mine.at.length + 1);
      const ofKey = await new Tus(owner, 'depot-9').begin({ filename: 'key.bin', path: '/of-key' }, 10);
      const places = [
        [inPieces(other.at), `${other.at}/${id}`, 404],
        [inPieces(down.at), `${down.at}/${id}`, 405],
        [new Tus(owner, 'depot-9'), `/api/uploads/depot-9/${id}`, 404],
        [inPieces(mine.at), `${mine.at}/${ofKey.split('/').at(-1)}`, 404],
        [inPieces(mine.at), `${mine.at}/${id.toUpperCase()}x`, 404],
      ] as const;
      for (const [client, at, status] of places) {
        assert.equal((await client.patch(at, 0, Buffer.from('x'))).status, status, at);
        assert.equal((await client.head(at)).status, status, at);
        assert.equal((await client.end(at)).status, status, at);
      }
      assert.equal((await inPieces(mine.at).patch(url, 0, Buffer.from('0123456789'))).status, 204);
      assert.equal(readFileSync(`${inside}${mine.folder}/mine.bin`, 'utf8'), '0123456789');
      return places.length * 3;
    },
  },
  {
    what: 'Links: fields of an upload in pieces',
    done: 'path, overwrite, a template and a time among its metadata; names that lead elsewhere or are hidden; no length or two, one too large, more bytes than announced; another file than the one asked for',
    held: 'ignored or 400, 413 before the first byte; the terms of the link hold, and nothing is left',
    run: async () => {
      const { id, at, folder } = await uploadLink({ maxBytes: 10, maxUses: 3 });
      const tus = inPieces(at);
      const begun = await tus.create(
        { filename: 'a', path: '/elsewhere', overwrite: 'true', filename_template: '../{filename}', mtime: 'x' },
        { 'Upload-Length': '10' },
      );
      assert.deepEqual(
        [begun.status, begun.headers['x-ignored-fields']],
        [201, 'path, overwrite, filename_template, mtime'],
        begun.text,
      );
      const url = String(begun.headers.location);
      assert.equal(code(await tus.patch(url, 0, Buffer.alloc(11))), '413 too_large');
      assert.equal((await tus.patch(url, 0, Buffer.alloc(10))).status, 204);
      assert.equal(code(await tus.create({ filename: 'a' }, { 'Upload-Length': '1' })), '409 already_exists');
      const names = ['../x', '..', 'a/b', '/etc/x', 'a\\b', 'a\nb', '.ssh', 'x'.repeat(300), ''];
      for (const filename of names) {
        const answer = await tus.create({ filename }, { 'Upload-Length': '1' });
        assert.equal(answer.status, 400, JSON.stringify(filename));
      }
      assert.equal(code(await tus.create({ filename: 'b' }, { 'Upload-Length': '11' })), '413 too_large');
      const two = { 'Upload-Length': '1', 'Upload-Defer-Length': '1' };
      for (const headers of [{}, two, { 'Upload-Length': '1', 'Upload-Concat': 'partial' }])
        assert.equal(code(await tus.create({ filename: 'c' }, headers as Record<string, string>)), '400 bad_request');
      assert.equal(
        code(await tus.create({ filename: 'd' }, { 'Upload-Length': '2' }, Buffer.alloc(3))),
        '413 too_large',
      );
      assert.deepEqual([filesIn(folder), (await linkNow(id))['uses']], [['a'], 1]);

      const right = randomBytes(200 * KIB);
      const digest = `sha-256:${createHash('sha256').update(right).digest('hex')}`;
      const asked = await uploadLink({ digest, maxUses: 1 });
      const wrong = await inPieces(asked.at).begin({ filename: 'x' }, right.length);
      assert.equal((await inPieces(asked.at).patch(wrong, 0, Buffer.alloc(100 * KIB))).status, 204);
      const end = right.subarray(100 * KIB);
      assert.equal(code(await inPieces(asked.at).patch(wrong, 100 * KIB, end)), '400 digest_mismatch');
      assert.deepEqual(filesIn(asked.folder), []);
      const good = await inPieces(asked.at).begin({ filename: 'x' }, right.length);
      assert.equal((await inPieces(asked.at).patch(good, 0, right)).status, 204);
      assert.deepEqual([filesIn(asked.folder), (await linkNow(asked.id))['state']], [['x'], 'used_up']);
      nothingOutside();
      return names.length + 11;
    },
  },
  {
    what: 'Links: an upload in pieces after the revocation, the expiry and the last use',
    done: 'revoked while a piece arrives; expired and used up between two pieces; asked for, continued and begun again',
    held: '410 gone at once or with the last byte; nothing is stored, and of a revoked one nothing is left',
    run: async () => {
      const revoked = await uploadLink();
      const url = await inPieces(revoked.at).begin({ filename: 'slow.bin' }, 100 * KIB);
      const body = new PassThrough();
      const headers = { 'Content-Length': String(100 * KIB) };
      const slow = inPieces(revoked.at).patch(url, 0, body, headers);
      body.write(Buffer.alloc(99 * KIB));
      const isWritten = async () => {
        const board = await withSql(postgres.url, (sql) => sql`select from uploads where writer is not null`);
        return board.length === 1;
      };
      await eventually(isWritten, 'the piece arrives');
      assert.equal((await owner.send(`/api/links/${revoked.id}`, { method: 'DELETE' })).status, 200);
      body.end(Buffer.alloc(KIB));
      assert.equal(code(await slow), '410 gone');
      await eventually(() => filesIn(revoked.folder).length === 0, 'nothing is left, also hidden');

      const expired = await uploadLink();
      const late = await inPieces(expired.at).begin({ filename: 'late.bin' }, 10);
      await withSql(postgres.url, (sql) => sql`update links set expires_at = now() where id = ${expired.id}`);
      const used = await uploadLink({ maxUses: 1 });
      const third = await inPieces(used.at).begin({ filename: 'third.bin' }, 10);
      assert.equal((await inPieces(used.at).patch(third, 0, Buffer.alloc(5))).status, 204);
      assert.equal((await put(used.at, 'first', 'x')).status, 201);
      for (const [link, at, offset] of [
        [revoked, url, 0],
        [expired, late, 0],
        [used, third, 5],
      ] as const) {
        const tus = inPieces(link.at);
        assert.equal(code(await tus.patch(at, offset, Buffer.alloc(5))), '410 gone');
        assert.equal(code(await tus.create({ filename: 'again' }, { 'Upload-Length': '1' })), '410 gone');
        assert.ok(!filesIn(link.folder).some((name) => name.endsWith('.bin') && !name.startsWith('.')));
      }
      assert.equal((await linkNow(used.id))['uses'], 1);
      return 8;
    },
  },
  {
    what: 'Links: uploads in pieces that are begun and left, or given up before their end',
    done: '21 begun and left; one for a single use sent and given up 20 times',
    held: '429 share_exceeded for only that link; a link whose uploads were given up that often is used up',
    run: async () => {
      const [one, other] = [await uploadLink(), await uploadLink()];
      for (let i = 0; i < 20; i++) await inPieces(one.at).begin({ filename: `left-${i}` }, 10);
      const more = await inPieces(one.at).create({ filename: 'more' }, { 'Upload-Length': '10' });
      assert.equal(code(more), '429 share_exceeded');
      assert.equal((await put(one.at, 'by-put')).status, 201);
      await inPieces(other.at).begin({ filename: 'other' }, 10);
      const { at, id } = await uploadLink({ maxUses: 1 });
      for (let i = 0; i < 20; i++) {
        const url = await inPieces(at).begin({ filename: 'x' }, 10);
        assert.equal((await inPieces(at).patch(url, 0, Buffer.alloc(9))).status, 204);
        assert.equal((await inPieces(at).end(url)).status, 204);
      }
      assert.equal(code(await inPieces(at).create({ filename: 'x' }, { 'Upload-Length': '1' })), '410 gone');
      assert.equal((await linkNow(id))['state'], 'used_up');
      return 41;
    },
  },
  {
    what: 'Links: other hosts',
    done: 'foreign, odd and missing Host, X-Forwarded-Host, Forwarded, X-Original-URL and X-Rewrite-URL fields',
    held: 'the same file under every one, and no page or answer that names them',
    run: async () => {
      const { at } = await downloadLink();
      const fields = ['Host', 'X-Forwarded-Host', 'X-Forwarded-Server', 'X-Original-URL', 'X-Rewrite-URL', 'Forwarded'];
      for (const name of fields) {
        for (const accept of ['*/*', html.Accept]) {
          const value = name === 'Forwarded' ? 'host=evil.example' : 'evil.example';
          const answer = await use(at, { headers: { [name]: value, Accept: accept } });
          assert.equal(answer.status, 200, name);
          assert.doesNotMatch(JSON.stringify(answer.headers) + answer.text, /evil/);
        }
      }
      const body = JSON.stringify({
        operation: 'upload',
        connectionId: 'depot-9',
        path: '/x',
        expiresAt: new Date(Date.now() + 60_000),
      });
      const odd = [
        'evil.example"><script>',
        'a@evil.example',
        'evil.example/path',
        'evil.example:99999999',
        'evil example',
      ];
      for (const host of odd) {
        const client = await RawClient.open(gateway.port);
        client.send(
          `POST /api/links HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
        const answer = await client.answer();
        client.socket.destroy();
        if (answer.status === 400) continue;
        const { link } = JSON.parse(answer.body.toString()) as { link: { url: string } };
        assert.match(link.url, /^\/l\/[0-9A-Za-z]{32}$/, host);
      }
      return fields.length * 2 + odd.length;
    },
  },
  {
    what: 'Links: keys, cookies and links mixed up',
    done: 'a link with the keys of others, bad ones and a cookie; a link as bearer, cookie and CSRF token of the API',
    held: 'a key adds nothing to a link and takes nothing from it; a link opens no other endpoint',
    run: async () => {
      const up = await uploadLink({ maxUses: 4 });
      for (const key of [OTHER, READER, 'ftg_never-was-0123456789-abcdefgh']) {
        assert.equal((await put(up.at, `by ${key.length}-${key.slice(4, 12)}`, 'x', { key })).status, 201, key);
      }
      const { at, token } = await downloadLink({ maxUses: 1 });
      await use(at);
      assert.equal(code(await use(at, { key: KEY })), '410 gone', 'not even with the key that made it');
      const cookies = { Cookie: `ftg_session=${token}; __Host-ftg_session=${token}`, 'X-CSRF-Token': token };
      for (const request of [{ key: token }, { key: `ftg_${token}` }, { headers: cookies }]) {
        for (const path of ['/api/links', '/api/me', '/api/list/depot-9', '/manage/account']) {
          assert.equal((await use(path, request)).status, 401, path);
        }
      }
      const answer = await use(up.at, { headers: html });
      assert.equal(answer.headers['set-cookie'], undefined);
      return 17;
    },
  },
  {
    what: 'Links: a body that is larger than it may be',
    done: 'announced too large; chunked and too large; announced small and longer; a form with a file',
    held: '413 or 415, or as much as was announced; nothing of the rest is stored or left, also hidden',
    run: async () => {
      const { at, folder, id } = await uploadLink({ maxBytes: 100 * KIB, maxUses: 2 });
      assert.equal(code(await put(at, 'a', Buffer.alloc(100 * KIB + 1))), '413 too_large');
      const endless = Readable.from(
        (function* () {
          for (let i = 0; i < 300; i++) yield Buffer.alloc(KIB);
        })(),
      );
      assert.equal(code(await put(at, 'b', endless)), '413 too_large');
      const raw = await RawClient.open(gateway.port);
      const surplus = 'd'.repeat(1000);
      // node:http ends a connection at once at bytes that begin no request, with all its work under way.
      const isCut = FRONT_END === 'node';
      raw.send(`PUT ${at}?filename=c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc${isCut ? '' : surplus}`);
      assert.equal((await raw.answer()).status, 201);
      if (isCut) raw.send(surplus);
      raw.socket.destroy();
      const form = { 'Content-Type': 'multipart/form-data; boundary=b' };
      assert.equal(code(await put(at, 'd', '--b\r\n', { headers: form })), '415 unsupported_media_type');
      await eventually(() => filesIn(folder).join() === 'c', 'only what was announced is stored');
      assert.equal(readFileSync(`${inside}${folder}/c`, 'utf8'), 'abc');
      assert.equal((await linkNow(id))['uses'], 1);
      return 4;
    },
  },
  {
    what: 'Links: another file than the one that is asked for',
    done: 'short and long bodies of another digest, with a Content-Digest of their own that is right',
    held: '400 digest_mismatch; nothing is stored, and the link is still good for the right one',
    run: async () => {
      const right = randomBytes(200 * KIB);
      const digest = `sha-256:${createHash('sha256').update(right).digest('hex')}`;
      const { at, folder } = await uploadLink({ digest, maxUses: 1 });
      for (const wrong of [Buffer.from('short'), Buffer.alloc(200 * KIB), Buffer.alloc(0)]) {
        const own = `sha-256=:${createHash('sha256').update(wrong).digest('base64')}:`;
        const headers = { 'Content-Digest': own, 'Repr-Digest': own };
        assert.equal(code(await put(at, 'wrong', wrong, { headers })), '400 digest_mismatch');
      }
      assert.deepEqual(filesIn(folder), []);
      assert.equal((await put(at, 'right', right)).status, 201);
      return 3;
    },
  },
  {
    what: 'Links: a file that is exchanged behind a download link with a digest',
    done: 'another content of the same and of another length, short and long, asked for whole, in parts and by HEAD',
    held: '410 gone, or the connection breaks before the last bytes: no other file comes whole',
    run: async () => {
      const content = randomBytes(600 * KIB);
      const digest = `sha-256:${createHash('sha256').update(content).digest('hex')}`;
      const { at, file } = await downloadLink({ digest }, content);
      assert.ok((await use(at)).bytes.equals(content));
      content[0] = (content[0] ?? 0) ^ 1;
      writeFileSync(inside + file, content);
      await assert.rejects(use(at));
      await assert.rejects(use(at, { headers: { Range: 'bytes=0-99' } }), 'a part says nothing of the whole');
      writeFileSync(inside + file, 'short');
      assert.equal(code(await use(at)), '410 gone');
      const head = await use(at, { method: 'HEAD' });
      assert.deepEqual([head.status, head.bytes.length], [200, 0]);
      return 4;
    },
  },
  {
    what: 'Links: after the revocation',
    done: 'every method and the page, at once after DELETE; an upload that began before it and ends after it',
    held: '410 gone; the upload stores nothing',
    run: async () => {
      const up = await uploadLink();
      const body = new PassThrough();
      const slow = put(up.at, 'slow.bin', body, { headers: { 'Content-Length': String(100 * KIB) } });
      body.write(Buffer.alloc(99 * KIB));
      const runs = async () => {
        const { json } = await owner.get('/api/transfers', { query: { link_id: up.id, status: 'pending' } });
        return json['total'] === 1;
      };
      await eventually(runs, 'the upload is under way');
      const down = await downloadLink();
      for (const { id } of [up, down])
        assert.equal((await owner.send(`/api/links/${id}`, { method: 'DELETE' })).status, 200);
      assert.equal(code(await put(up.at, 'late')), '410 gone');
      for (const { at } of [up, down]) {
        assert.equal(code(await use(at)), '410 gone');
        assert.equal((await use(at, { method: 'HEAD' })).status, 410);
        const page = await use(at, { headers: html });
        assert.match(page.text, /This link was withdrawn/);
        assert.equal(page.status, 410);
      }
      body.end(Buffer.alloc(KIB));
      assert.equal(code(await slow), '410 gone');
      assert.deepEqual(filesIn(up.folder), []);
      return 8;
    },
  },
  {
    what: 'Links: after the expiry',
    done: 'uploads and downloads after the end of the link; links without an end, with a past one and with one too late',
    held: '410 gone; links without an end, or with one in the past or in 91 days, are not made',
    run: async () => {
      const links = [await uploadLink(), await downloadLink()];
      await withSql(
        postgres.url,
        (sql) => sql`update links set expires_at = now() where id = any(${links.map(({ id }) => id)})`,
      );
      assert.equal(code(await put(links[0]!.at, 'x')), '410 gone');
      assert.equal(code(await use(links[1]!.at)), '410 gone');
      const times = [
        undefined,
        '',
        'never',
        '2020-01-01T00:00:00Z',
        '2026-13-01T00:00:00Z',
        new Date(Date.now() + 91 * 86_400_000).toISOString(),
      ];
      for (const expiresAt of times) {
        const link = { operation: 'upload', connectionId: 'depot-9', path: '/x', expiresAt };
        assert.equal((await owner.post('/api/links', link)).status, 400, String(expiresAt));
      }
      return 2 + times.length;
    },
  },
  {
    what: 'Links: after the end of the key that made them',
    done: 'the key loses its scope, its connection, its addresses, its time and its life',
    held: '410 gone, from another address 403 with any X-Forwarded-For; back with its rights, the link is back',
    run: async () => {
      const admin = gateway.client(ADMIN);
      const made = await admin.post('/manage/api-keys', { name: `maker ${Date.now()}`, scopes: ['read', 'write'] });
      const { apiKey, key } = made.json as { apiKey: { id: string }; key: string };
      const { at } = await uploadLink({}, gateway.client(key));
      const change = async (rights: object): Promise<void> => {
        const answer = await admin.send(`/manage/api-keys/${apiKey.id}`, { method: 'PATCH', json: rights });
        assert.equal(answer.status, 200, answer.text);
      };
      const all = { scopes: ['read', 'write'], connections: [], allowedIps: [], expiresAt: null };
      for (const [rights, expected] of [
        [{ scopes: ['read'] }, '410 gone'],
        [{ connections: ['second'] }, '410 gone'],
        [{ allowedIps: ['192.0.2.0/24'] }, '403 forbidden'],
        [{ expiresAt: 'soon' }, '410 gone'],
      ] as const) {
        const soon = new Date(Date.now() + 4_000).toISOString();
        await change('expiresAt' in rights ? { expiresAt: soon } : rights);
        const headers = { 'X-Forwarded-For': '192.0.2.1' };
        await eventually(
          async () => code(await put(at, 'late', 'x', { headers })) === expected,
          `${Object.keys(rights)[0]}`,
        );
        await change(all);
        assert.equal((await put(at, `back-${Object.keys(rights)[0]}`)).status, 201);
      }
      assert.equal((await admin.send(`/manage/api-keys/${apiKey.id}`, { method: 'DELETE' })).status, 200);
      assert.equal(code(await put(at, 'late')), '410 gone');
      return 5;
    },
  },
  {
    what: 'Links: connections that are switched off, or cannot be reached',
    done: 'uploads, downloads and the page of such a link',
    held: '403 or 502, in words that name no host, path, login or account',
    run: async () => {
      const admin = gateway.client(ADMIN);
      assert.equal(
        (await admin.post('/manage/connections/second/duplicate', { id: 'switched', name: 'Switched' })).status,
        201,
      );
      const off = await make({ operation: 'download', path: `/${CANARY}/x`, connectionId: 'switched' });
      assert.equal((await admin.post('/manage/connections/switched/deactivate', {})).status, 200);
      const away = await make({ operation: 'download', path: `/${CANARY}/x`, connectionId: 'nowhere' });
      const answers = [await use(off.at), await use(away.at), await use(away.at, { headers: html })];
      const missing = await make({ operation: 'download', path: `/${CANARY}/missing` });
      answers.push(await use(missing.at), await use(missing.at, { headers: html }));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [403, 502, 502, 404, 404],
      );
      for (const { text, headers } of answers) {
        assert.doesNotMatch(
          text + JSON.stringify(headers),
          new RegExp(`${CANARY}|switched|nowhere|127\\.0|inside|a@example`),
        );
      }
      return answers.length;
    },
  },
  {
    what: 'Links: folders and files that become symbolic links',
    done: 'the folder of an upload link, and the file of a download link, replaced by links that lead out of the root',
    held: '403 permission_denied; nothing outside is written or read',
    run: async () => {
      const up = await uploadLink();
      await put(up.at, 'first');
      rmSync(inside + up.folder, { recursive: true });
      symlinkSync(join(sshd.files, CANARY), inside + up.folder);
      assert.equal(code(await put(up.at, 'second')), '403 permission_denied');
      const down = await downloadLink();
      rmSync(inside + down.file);
      symlinkSync(join(sshd.files, `${CANARY}.txt`), inside + down.file);
      for (const request of [{}, { method: 'HEAD' }, { headers: html }]) {
        const answer = await use(down.at, request);
        assert.equal(answer.status, 403);
        assert.doesNotMatch(answer.text, /canary/);
      }
      nothingOutside();
      rmSync(inside + up.folder);
      return 4;
    },
  },
  {
    what: 'Links: script by the names of files',
    done: 'tags, quotes, entities, direction marks and closing tags in names, and in Accept-Language, on both pages',
    held: 'shown as they are; one script and one style run, by their hash; no page is shown in a frame',
    run: async () => {
      const names = [
        '<script>alert(1)<>.txt',
        `"'><img src=x onerror=alert(1)>.txt`,
        '&lt;b&gt;.txt',
        '\u202egnp.exe',
        '{name}$&`.txt',
      ];
      for (const name of names) {
        writeFileSync(`${inside}/${name.replaceAll('/', '')}`, 'x');
        const links = [await make({ operation: 'download', path: `/${name}` }), await uploadLink({ filename: name })];
        for (const { at } of links) {
          const { text, headers } = await use(at, {
            headers: { ...html, 'Accept-Language': `"><script>alert(1)</script>` },
          });
          assert.ok(!text.includes(name) || !/[<>"'&]/.test(name), name);
          assert.doesNotMatch(text, /<img|<script>alert/);
          const policy = String(headers['content-security-policy']);
          assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/);
          assert.match(policy, /frame-ancestors 'none'/);
          for (const [tag, own] of [
            ['script type="module"', 'script'],
            ['style', 'style'],
          ] as const) {
            const [, body] = new RegExp(`<${tag}>([^]*?)</${own}>`).exec(text) ?? [];
            if (body === undefined) continue;
            assert.ok(
              policy.includes(`'sha256-${createHash('sha256').update(body).digest('base64')}'`),
              `${own} of the page`,
            );
          }
        }
      }
      return names.length * 2;
    },
  },
  {
    what: 'Links: files that a browser would run',
    done: 'HTML, SVG and JavaScript by a download link, opened in a browser, with Sec-Fetch fields of a page',
    held: 'attachment, nosniff, a sandbox without scripts, for no other site to embed; nothing is cached',
    run: async () => {
      const types = ['html', 'svg', 'js', 'xhtml', 'xml'];
      for (const type of types) {
        writeFileSync(`${inside}/run.${type}`, '<script>alert(1)</script>');
        const { at } = await make({ operation: 'download', path: `/run.${type}` });
        const headers = { ...html, 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Site': 'cross-site' };
        const { headers: fields } = await use(at, { query: { download: '1' }, headers });
        assert.match(fields['content-disposition'] ?? '', /^attachment/);
        assert.equal(fields['x-content-type-options'], 'nosniff');
        assert.match(String(fields['content-security-policy']), /sandbox/);
        assert.equal(fields['cross-origin-resource-policy'], 'same-origin');
        assert.deepEqual([fields['cache-control'], fields['referrer-policy']], ['no-store', 'no-referrer']);
      }
      return types.length;
    },
  },
  {
    what: 'Links: header fields by names of files',
    done: 'quotes, semicolons, line ends and other alphabets as the name that a download is saved as',
    held: 'control characters are refused when the link is made; the rest is one Content-Disposition that says the name',
    run: async () => {
      const { file } = await downloadLink();
      for (const filename of ['a\r\nSet-Cookie: x=1', 'a\nb', 'a\0b', '../x', 'a/b', '']) {
        const link = {
          operation: 'download',
          connectionId: 'depot-9',
          path: file,
          filename,
          expiresAt: new Date(Date.now() + 60_000),
        };
        assert.equal((await owner.post('/api/links', link)).status, 400, JSON.stringify(filename));
      }
      for (const filename of ['"; filename="evil', 'ünï; x=y', '日本語.txt', "it's.txt"]) {
        const { at } = await make({ operation: 'download', path: file, filename });
        const { headers } = await use(at);
        assert.equal(headers['set-cookie'], undefined);
        const disposition = headers['content-disposition'] ?? '';
        const [, star] = /filename\*=UTF-8''([^;]*)/.exec(disposition) ?? [];
        const [, plain] = /filename="((?:[^"\\]|\\.)*)"/.exec(disposition) ?? [];
        assert.equal(star === undefined ? plain?.replace(/\\(.)/g, '$1') : decodeURIComponent(star), filename);
      }
      return 10;
    },
  },
  {
    what: 'Links: pages of other sites',
    done: 'preflights and requests with the Origin of another site, on both kinds of links',
    held: 'no answer lets their scripts read anything, and no PUT of theirs begins',
    run: async () => {
      for (const { at } of [await uploadLink(), await downloadLink()]) {
        const preflight = await use(at, {
          method: 'OPTIONS',
          headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'PUT' },
        });
        const read = await use(at, { headers: { Origin: 'https://evil.example' } });
        assert.ok([204, 405].includes(preflight.status), `${preflight.status}`);
        for (const { headers } of [preflight, read]) {
          assert.ok(!Object.keys(headers).some((name) => name.startsWith('access-control-')));
        }
      }
      return 4;
    },
  },
  {
    what: 'Links: the month of their maker',
    done: '40 tries of links that are used up, revoked or of the wrong method, and 20 views of pages',
    held: 'no action is counted and no history item made, but those of views of files',
    run: async () => {
      const up = await uploadLink({ maxUses: 1 });
      await put(up.at, 'only');
      const down = await downloadLink();
      const [actions, items] = [await usedActions(), await transfersTotal()];
      for (let i = 0; i < 20; i++) {
        assert.equal((await put(up.at, `more-${i}`)).status, 410);
        assert.equal((await put(down.at, `more-${i}`)).status, 405);
      }
      assert.equal(await transfersTotal(), items);
      for (let i = 0; i < 20; i++) assert.equal((await use(down.at, { headers: html })).status, 200);
      assert.equal(await usedActions(), actions);
      return 60;
    },
  },
  {
    what: 'Links: of others, by the API',
    done: 'looked at, revoked and made by keys of another account, of other connections and of another scope',
    held: '404 or 403, as of a link that never was; nothing of it is revealed',
    run: async () => {
      const { id, at } = await uploadLink();
      const [other, limited, reader] = [OTHER, LIMITED, READER].map((key) => gateway.client(key)) as [
        ApiClient,
        ApiClient,
        ApiClient,
      ];
      for (const client of [other, limited]) {
        for (const method of ['GET', 'DELETE']) {
          const [theirs, never] = [id, '0199c2f4-6f5e-7c1a-9a51-0d2f64b1e999'].map((one) =>
            client.send(`/api/links/${one}`, { method }),
          );
          assert.equal(
            (await theirs!).text.replaceAll(id, ''),
            (await never!).text.replaceAll('0199c2f4-6f5e-7c1a-9a51-0d2f64b1e999', ''),
          );
          assert.equal((await theirs!).status, 404);
        }
        assert.ok(!(await client.get('/api/links')).text.includes(id));
      }
      assert.equal(
        (await reader.send(`/api/links/${id}`, { method: 'DELETE' })).headers['x-error-code'],
        'scope_missing',
      );
      const link = {
        operation: 'upload',
        path: '/x',
        connectionId: 'depot-9',
        expiresAt: new Date(Date.now() + 60_000),
      };
      const refused = await Promise.all([other, limited, reader].map((client) => client.post('/api/links', link)));
      assert.deepEqual(
        refused.map(({ headers }) => headers['x-error-code']),
        ['unknown_connection', 'forbidden', 'scope_missing'],
      );
      assert.equal((await put(at, 'still')).status, 201);
      return 8;
    },
  },
  {
    what: 'Links: their secrets in what is written down',
    done: 'every secret of this run looked for in the log at level trace, the database, the metrics, and answers to the owner',
    held: 'none is there: only the hash is kept, and a link is shown once',
    run: async () => {
      const shown = await Promise.all(
        ['/api/links?limit=1000', '/api/transfers?limit=100', '/metrics'].map(
          async (path) => (await owner.get(path)).text,
        ),
      );
      const audit = (await gateway.client(ADMIN).get('/manage/audit?limit=200')).text;
      const tables = await withSql(postgres.url, async (sql) => {
        const names = await sql<
          { name: string }[]
        >`select tablename as name from pg_tables where schemaname = 'public'`;
        const texts = await Promise.all(names.map(({ name }) => sql`select t::text as row from ${sql(name)} t`));
        return JSON.stringify(texts);
      });
      const written = [gateway.output(), tables, audit, ...shown];
      assert.ok(secrets.length > 30 && gateway.output().includes('/l/:token'), 'there is something to be found');
      for (const secret of secrets) {
        for (const text of written)
          assert.ok(
            !text.includes(secret),
            `…${text.slice(Math.max(0, text.indexOf(secret) - 80), text.indexOf(secret))}`,
          );
      }
      return secrets.length;
    },
  },
  {
    what: 'Links: what strangers learn of the server',
    done: 'every answer of this run to a visitor with a link and no key, searched for paths, hosts, logins and accounts',
    held: 'none is named, in answers that went well and in those that did not',
    run: async () => {
      for (const answer of sentAnswers) {
        assert.doesNotMatch(
          answer,
          /folder-\d|a@example|b@example|depot|\.invalid|ftg-sshd|SQLSTATE|node_modules|\bat \S+ \(/,
          answer.slice(0, 300),
        );
      }
      return sentAnswers.length;
    },
  },
  {
    what: 'Links: guessing',
    done: '80 secrets of the right form, one after another from one address; then a good key from there, and a link from elsewhere',
    held: '404, and from the 61st in a minute on 429 with Retry-After; the good ones are served',
    run: async () => {
      const { at } = await downloadLink();
      // From a separate address: the tries before count against theirs.
      const client = await RawClient.open(gateway.port, { localAddress: '127.0.0.9' });
      const ask = async (target: string, more = ''): Promise<RawAnswer> =>
        client.send(`GET ${target} HTTP/1.1\r\nHost: x\r\n${more}\r\n`).answer();
      const statuses: number[] = [];
      for (let i = 0; i < 80; i++) {
        const answer = await ask(`/l/${randomBytes(16).toString('hex')}`);
        statuses.push(answer.status);
        if (answer.status === 429) assert.match(answer.field('retry-after') ?? '', /^\d+$/);
      }
      assert.deepEqual(statuses, [...Array<number>(60).fill(404), ...Array<number>(20).fill(429)]);
      assert.equal((await ask('/api/me', `Authorization: Bearer ${KEY}\r\n`)).status, 200);
      client.socket.destroy();
      assert.equal((await use(at)).status, 200);
      return 80;
    },
  },
];

describe('links', { concurrency: 1 }, () => {
  for (const { what, done, held: outcome, run } of ATTACKS) {
    test(what, async () => {
      const tries = await run();
      held({ area: 'Attacks', what, done, held: outcome, tries });
    });
  }
});
