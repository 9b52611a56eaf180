/**
 * Nothing outside of a connection's root is read or changed, for every name and spelling in a request, on real servers.
 * A failure is a file outside that has changed, or its text in an answer.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import contentDisposition from 'content-disposition';
import type { OpenApiDocument, Schema } from '../../src/api/openapi/types.js';
import { S3_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startVsftpd, type FtpServer } from '../servers/ftp.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { KEY, startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { startReceiver, type Receiver } from '../watch/support/receiver.js';
import { documentedEndpoints } from './support/endpoints.js';
import { NO_PATHS, PATH_OPERANDS, STANDING, type PathOperand, type Target } from './support/path-operands.js';
import { eventually } from '../support/eventually.js';
import { startTogether } from '../support/together.js';
import { processorMsOf } from '../support/processor.js';

/** The content of the files outside; it is in no request. */
const CANARY = 'canary-5e8b21';
const CONNECTIONS = ['sftp', 'ftp', 's3'] as const;
const AT_ONCE = 8;

let sshd: TestSshd;
let ftp: FtpServer;
let store: TestServer;
let origin: http.Server;
let receiver: Receiver;
let gateway: TestGateway;
let target: Omit<Target, 'connection'>;

before(async () => {
  origin = http.createServer((request, response) => {
    const disposition = new URL(request.url ?? '/', 'http://origin').searchParams.get('disposition');
    response.writeHead(200, disposition === null ? {} : { 'Content-Disposition': disposition }).end('planted');
  });
  origin.listen(0, '127.0.0.1');
  const [swift] = S3_SERVERS;
  assert.ok(swift);
  [sshd, ftp, store, receiver] = await startTogether([startSshd(), startVsftpd(), swift.start(), startReceiver()]);
  for (const folder of [sshd.files, ftp.folder]) furnish(folder);
  for (const [file, text] of Object.entries(FILES)) await store.disk.write(file, text);
  const local = { allow: ['127.0.0.1/32'] };
  const { username, clientKeyFile } = sshd;
  gateway = await startGateway({
    config: { network: { urlFetch: local, webhooks: local }, watcher: { settleMs: 100 } },
    apiKeys: [{ name: 'all', key: KEY, scopes: ['read', 'write', 'watch', 'admin'] }],
    connections: [
      {
        id: 'sftp',
        name: 'SFTP',
        type: 'sftp',
        host: '127.0.0.1',
        port: sshd.port,
        username,
        privateKeyFile: clientKeyFile,
        rootPath: `${sshd.files}/inside`,
        defaultPath: '/',
      },
      {
        id: 'ftp',
        name: 'FTP',
        type: 'ftp',
        host: '127.0.0.1',
        port: ftp.port,
        username: ftp.username,
        password: ftp.password,
        tls: 'none',
        rootPath: '/inside',
        defaultPath: '/',
      },
      { ...store.connection, id: 's3', name: 'S3', prefix: 'base/inside/', defaultPath: '/' },
    ],
  });
  target = { api: gateway.api, origin: `http://127.0.0.1:${(origin.address() as AddressInfo).port}` };
});
after(async () => {
  await gateway.stop();
  await Promise.all([sshd.stop(), ftp.stop(), store.stop(), receiver.close()]);
  origin.close();
  origin.closeAllConnections();
  await once(origin, 'close');
});

/** Only `/inside` is inside: a folder beside it with the same beginning is as far outside as any other. */
const FILES: Readonly<Record<string, string>> = {
  '/canary.txt': CANARY,
  '/inside-too/canary.txt': CANARY,
  '/secret/canary.txt': CANARY,
  '/secret/deep/canary.txt': CANARY,
  [`/inside${STANDING}`]: 'standing',
};

/** All of it belongs to the login, so that only the gateway prevents it from being changed. */
function furnish(root: string): void {
  const { uid, gid } = statSync(root);
  for (const [file, text] of Object.entries(FILES)) {
    let folder = root;
    for (const part of file.split('/').slice(1, -1)) {
      folder = join(folder, part);
      mkdirSync(folder, { recursive: true });
      chownSync(folder, uid, gid);
    }
    writeFileSync(root + file, text);
    chownSync(root + file, uid, gid);
  }
}

/** Everything outside of the root, on the server's disk. */
async function outside(connection: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  if (connection === 's3') {
    for (const file of await store.disk.files('/')) {
      if (!file.startsWith('/inside/')) found[file] = (await store.disk.read(file)).toString();
    }
    return found;
  }
  return filesOf(rootOf(connection), 'inside');
}

function filesOf(root: string, exceptBelow?: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (name.split('/')[0] === exceptBelow) continue;
    const stats = lstatSync(join(root, name));
    found[name] = stats.isFile() ? readFileSync(join(root, name), 'utf8') : stats.isDirectory() ? 'folder' : 'other';
  }
  return found;
}

const rootOf = (connection: string): string => (connection === 'sftp' ? sshd.files : ftp.folder);
const inside = (connection: string, name: string): string => join(rootOf(connection), 'inside', name);

/** Does the work and checks that the outside is unchanged. */
async function unharmed(connection: string, work: () => Promise<void>): Promise<void> {
  const former = await outside(connection);
  await work();
  assert.deepEqual(await outside(connection), former, `${connection}: something outside has changed`);
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Each leaves the root, even those that return to it. */
const ESCAPES = [
  '..',
  '../canary.txt',
  '/../canary.txt',
  '/../inside/../canary.txt',
  '../inside-too/canary.txt',
  'a/../../canary.txt',
  '/a/./b/../../../canary.txt',
  '//..//canary.txt',
  '/.././canary.txt/',
  'standing.txt/../../canary.txt',
];
const CONTROLS = [
  '/x\0/../../canary.txt',
  '/x\0.txt',
  '/x\r\nDELE /canary.txt',
  '/x\nRNFR /canary.txt\nRNTO /inside/stolen',
  '\r\n',
  '/x\u001b[2J',
  '/x\u0085',
  '/x\u007f',
];
const OVERLONG = [
  '/a'.repeat(2049),
  'é'.repeat(2049),
  `${'../'.repeat(1400)}canary.txt`,
  `${'a/../'.repeat(900)}../canary.txt`,
];
/** Ordinary names, unless they are decoded, folded or translated once more. */
const LOOKALIKES = [
  '%2e%2e/canary.txt',
  '..%2fcanary.txt',
  '%252e%252e%252fcanary.txt',
  '..%c0%afcanary.txt',
  '..\\canary.txt',
  '..%5ccanary.txt',
  '..;/canary.txt',
  '．．/canary.txt',
  '‥/canary.txt',
  '/inside/../inside-too/canary.txt',
];

describe('paths that would leave the root', () => {
  test('every text of a request that names a file is one of the operands tried here', async () => {
    const document = (await gateway.api.get('/openapi.json')).json as unknown as OpenApiDocument;
    const known = new Set(PATH_OPERANDS.map(({ name }) => name));
    const undecided: string[] = [];
    const documented = new Set<string>();
    for (const { method, path, query, bodies } of documentedEndpoints(document)) {
      const places = [
        ['query', query] as const,
        ...Object.entries(bodies).map(([type, schema]) => [type, propertiesOf(schema)] as const),
      ];
      for (const [place, fields] of places) {
        for (const [field, schema] of Object.entries(fields as Record<string, { readonly type?: unknown }>)) {
          documented.add(`${method} ${path} ${place} ${field}`);
          // A word out of a list names no file.
          const isText = [schema.type].flat().includes('string') && !('enum' in schema);
          const name = `${method} ${path} ${place} ${field}`;
          if (path.startsWith('/api/') && isText && !NO_PATHS.has(field) && !known.has(name)) undecided.push(name);
        }
      }
    }
    assert.deepEqual(undecided, []);
    const gone = [...known].filter((name) => /^(GET|POST|PATCH) /.test(name) && !documented.has(name));
    assert.deepEqual(gone, []);
  });

  for (const connection of CONNECTIONS) {
    test(`${connection}: traversal, control characters and overlong paths are refused in every operand`, async () => {
      const attacks = PATH_OPERANDS.flatMap((operand) => {
        const all = operand.kind === 'stripped' ? [...ESCAPES, ...CONTROLS] : [...ESCAPES, ...CONTROLS, ...OVERLONG];
        return all.map((hostile) => [operand, hostile] as const);
      });
      await unharmed(connection, () =>
        each(attacks, async ([operand, hostile]) => {
          if (operand.kind === 'stripped') return expectHarmless(connection, operand, hostile);
          const answer = await operand.send({ ...target, connection }, hostile);
          const code = String(answer.headers['x-error-code']);
          const what = `${operand.name} ${JSON.stringify(hostile.slice(0, 60))}: ${answer.status} ${answer.text.slice(0, 200)}`;
          if (operand.name.includes('append') && connection === 's3') assert.equal(code, 'unsupported_operation', what);
          else assert.ok(answer.status === 400 && ['bad_path', 'bad_request'].includes(code), what);
        }),
      );
      held({
        area: 'Attacks',
        what: `${PROTOCOLS[connection]}: paths that leave the root`,
        done: '"..", control characters, line ends, NUL and overlong paths in every field, name, template, header and URL that can name a file',
        held: 'refused with 400, or cut down to the last segment; what is outside of the root is unchanged',
        tries: attacks.length,
      });
    });

    test(`${connection}: what only looks like a path to the outside is a name`, async () => {
      // A store has no folders to walk through: every second one is enough, and it is the slowest of the three.
      const names = LOOKALIKES.filter((_, index) => connection !== 's3' || index % 2 === 0);
      const attacks = PATH_OPERANDS.flatMap((operand) => names.map((hostile) => [operand, hostile] as const));
      await unharmed(connection, () =>
        each(attacks, ([operand, hostile]) => expectHarmless(connection, operand, hostile)),
      );
      held({
        area: 'Attacks',
        what: `${PROTOCOLS[connection]}: names that look like a way out`,
        done: 'encoded, doubly encoded, overlong UTF-8, backslashes, full-width dots and slashes, in the same places',
        held: 'names like any other: nothing is decoded or folded again, and nothing outside is read or changed',
        tries: attacks.length,
      });
    });
  }
});

/** Also those of a schema's variants. */
function propertiesOf(schema: Schema): Record<string, Schema> {
  const { properties = {}, oneOf = [], anyOf = [], allOf = [] } = schema as Record<string, never[] | undefined>;
  return Object.assign({}, properties, ...[...oneOf, ...anyOf, ...allOf].map(propertiesOf)) as Record<string, Schema>;
}

const PROTOCOLS = { sftp: 'SFTP', ftp: 'FTP', s3: 'S3' } as const;

/** However it is interpreted, it is inside. */
async function expectHarmless(connection: string, operand: PathOperand, hostile: string): Promise<void> {
  const answer = await operand.send({ ...target, connection }, hostile);
  const what = `${operand.name} ${JSON.stringify(hostile)}: ${answer.status} ${answer.text.slice(0, 200)}`;
  assert.ok(!answer.text.includes(CANARY), what);
  assert.notEqual(answer.status, 500, what);
  if (answer.bytes.length === 0 || !isJson(answer)) return;
  const path = (answer.json['transfer'] as { path?: unknown } | undefined)?.path;
  if (typeof path === 'string') assert.ok(path.startsWith('/') && !path.split('/').includes('..'), what);
}

function isJson({ headers }: ApiAnswer): boolean {
  return headers['content-type']?.startsWith('application/json') === true;
}

/** Links inside the root of a connection: what a client could try with each, and whether the link itself is meant. */
const linksTo = (far: string): Readonly<Record<string, string>> => ({
  'to-folder': '../secret',
  'to-file': '../canary.txt',
  'to-nothing': '../planted.txt',
  'far-folder': `${far}/secret`,
  'far-file': `${far}/canary.txt`,
});

/** The files there, as `filesOf` returns them. */
const FAR: Readonly<Record<string, string>> = {
  'canary.txt': CANARY,
  inside: 'folder',
  'inside/standing.txt': 'standing',
  'inside-too': 'folder',
  'inside-too/canary.txt': CANARY,
  secret: 'folder',
  'secret/canary.txt': CANARY,
  'secret/deep': 'folder',
  'secret/deep/canary.txt': CANARY,
};

interface LinkAttack {
  readonly name: string;
  readonly send: (connection: string) => Promise<ApiAnswer>;
}

/** Each follows a link: to the folder `at`, or to a file. */
function followed(folder: string, file: string, within: string): readonly LinkAttack[] {
  const api = (): TestGateway['api'] => gateway.api;
  const one = (name: string, send: LinkAttack['send']): LinkAttack => ({ name, send });
  const reading = (path: string): readonly LinkAttack[] => [
    ...['download', 'read'].map((endpoint) =>
      one(`${endpoint} ${path}`, (id) => api().get(`/api/${endpoint}/${id}`, { query: { path } })),
    ),
    one(`exists ${path}`, (id) => api().get(`/api/exists/${id}`, { query: { path } })),
    one(`copy from ${path}`, (id) =>
      api().post('/api/copy', { ...both(id), source_path: path, dest_path: '/copied-out.txt' }),
    ),
    one(`append ${path}`, (id) => api().post(`/api/append/${id}`, { path, content: 'planted' })),
  ];
  const below = `${folder}/${within}`;
  return [
    ...reading(file),
    ...reading(below),
    one(`list ${folder}`, (id) => api().get(`/api/list/${id}`, { query: { path: folder } })),
    one(`write below ${folder}`, (id) =>
      api().post(`/api/write/${id}`, { path: `${folder}/new.txt`, content: 'planted' }),
    ),
    one(`write ${below}`, (id) => api().post(`/api/write/${id}`, { path: below, content: 'planted' })),
    one(`upload into ${folder}`, (id) =>
      api().post(`/api/upload/${id}`, { path: `${folder}/deep/er`, filename: 'x.txt', content: '' }),
    ),
    one(`delete ${below}`, (id) => api().post(`/api/delete/${id}`, { path: below })),
    one(`move from ${below}`, (id) => api().post(`/api/move/${id}`, { from: below, to: '/stolen.txt' })),
    one(`move into ${folder}`, (id) => api().post(`/api/move/${id}`, { from: STANDING, to: `${folder}/moved.txt` })),
    one(`copy into ${folder}`, (id) =>
      api().post('/api/copy', { ...both(id), source_path: STANDING, dest_path: `${folder}/copied.txt` }),
    ),
    one(`mkdir below ${folder}`, (id) => api().post(`/api/mkdir/${id}`, { path: `${folder}/made` })),
    one(`watch ${folder}`, (id) => api().post('/api/watched-folders', { connectionId: id, path: folder })),
  ];
}

const both = (id: string): object => ({ source_connection_id: id, dest_connection_id: id });

/** Work on the name of a link affects the link. */
const REPLACING: readonly LinkAttack[] = ['to-file', 'to-nothing', 'far-file'].flatMap((link) => [
  {
    name: `write onto ${link}`,
    send: (id: string) => gateway.api.post(`/api/write/${id}`, { path: `/${link}`, content: 'mine' }),
  },
  {
    name: `move onto ${link}`,
    send: (id: string) =>
      gateway.api.post(`/api/move/${id}`, { from: '/movable.txt', to: `/${link}`, overwrite: true }),
  },
  { name: `delete ${link}`, send: (id: string) => gateway.api.post(`/api/delete/${id}`, { path: `/${link}` }) },
]);

describe('links that lead outside', () => {
  /** Far from the roots, beyond the chroot of the FTP server, though its login could change it. */
  let far: string;
  before(() => {
    far = mkdtempSync(join(tmpdir(), 'ftg-far-'));
    chmodSync(far, 0o755);
    const { uid, gid } = statSync(ftp.folder);
    chownSync(far, uid, gid);
    furnish(far);
  });
  after(() => rmSync(far, { recursive: true }));

  const farFiles = (): Record<string, string> => filesOf(far);
  const plant = (connection: string): void => {
    const { uid, gid } = statSync(rootOf(connection));
    for (const [name, to] of Object.entries(linksTo(far))) {
      const link = inside(connection, name);
      if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) unlinkSync(link);
      symlinkSync(to, link);
    }
    for (const name of ['movable.txt', STANDING.slice(1)]) {
      writeFileSync(inside(connection, name), 'mine');
      chownSync(inside(connection, name), uid, gid);
    }
  };

  test('sftp: no operation follows them, and a listing shows nothing about their targets', async () => {
    plant('sftp');
    const attacks = [
      ...followed('/to-folder', '/to-file', 'canary.txt'),
      ...followed('/far-folder', '/far-file', 'canary.txt'),
    ];
    await unharmed('sftp', async () => {
      for (const { name, send } of attacks) {
        const answer = await send('sftp');
        assert.deepEqual(
          [answer.status, answer.headers['x-error-code']],
          [403, 'permission_denied'],
          `${name}: ${answer.text}`,
        );
        assert.ok(!answer.text.includes(CANARY) && !answer.text.includes(sshd.files), answer.text);
      }
    });
    assert.deepEqual(farFiles(), FAR);
    const { files } = (await gateway.api.get('/api/list/sftp')).json as {
      files: { name: string; isDirectory: boolean; size: number }[];
    };
    const listed = new Map(files.map((file) => [file.name, file]));
    for (const [name, to] of Object.entries(linksTo(far))) {
      assert.deepEqual([listed.get(name)?.isDirectory, listed.get(name)?.size], [false, to.length], name);
    }
    held({
      area: 'Attacks',
      what: 'SFTP: symbolic links that lead outside of the root',
      done: 'links to files and folders beside the root and far from it, tried with every operation',
      held: '403 permission_denied for anything that would follow one; nothing outside is read, changed or revealed',
      tries: attacks.length,
    });
  });

  for (const connection of ['sftp', 'ftp'] as const) {
    test(`${connection}: replacing, moving onto or deleting a link does not change its target`, async () => {
      await unharmed(connection, async () => {
        for (const { name, send } of REPLACING) {
          plant(connection);
          const answer = await send(connection);
          assert.ok([200, 403, 404].includes(answer.status), `${name}: ${answer.status} ${answer.text}`);
          const link = lstatSync(inside(connection, name.split(' ').at(-1) ?? ''), { throwIfNoEntry: false });
          if (answer.status === 200) assert.equal(link?.isSymbolicLink() ?? false, false, `${name}: the link is gone`);
        }
      });
      assert.deepEqual(farFiles(), FAR);
      held({
        area: 'Attacks',
        what: `${PROTOCOLS[connection]}: links that are replaced, moved onto or deleted`,
        done: 'write, move and delete with the name of a link to a file outside, to none, and far away',
        held: 'the link is replaced or deleted, never what it points to',
        tries: REPLACING.length,
      });
    });
  }

  test('ftp: the boundary is the chroot of the server, as the page about security says', async () => {
    plant('ftp');
    const beyond = followed('/far-folder', '/far-file', 'canary.txt');
    await unharmed('ftp', async () => {
      for (const { name, send } of beyond) {
        const answer = await send('ftp');
        assert.ok(!answer.text.includes(CANARY), `${name}: ${answer.text}`);
      }
    });
    assert.deepEqual(farFiles(), FAR);
    const followedInside = await gateway.api.get('/api/read/ftp', { query: { path: '/to-folder/canary.txt' } });
    assert.equal(
      followedInside.json['content'],
      CANARY,
      'within its own chroot the server follows links: the policy says so',
    );
    assert.match(
      readFileSync(new URL('../../../docs/operate/secure.md', import.meta.url), 'utf8'),
      /FTP\*\* has no such question/,
    );
    held({
      area: 'Attacks',
      what: 'FTP: symbolic links that lead out of the server’s chroot',
      done: 'links to folders and files of the machine, tried with every operation',
      held: 'nothing beyond the chroot is read or changed; links within it are followed by the server, with any rootPath',
      tries: beyond.length,
    });
  });
});

/** Bytes that a file system accepts and no current encoding uses: "café" in Latin-1, and its neighbour. */
const LATIN = Buffer.from('caf\xe9.txt', 'latin1');
const NEIGHBOUR = Buffer.from('caf\xe8.txt', 'latin1');

const below = (folder: string, name: Buffer): Buffer => Buffer.concat([Buffer.from(`${folder}/`), name]);

/** A folder with both files, whose content is their name; its path on the disk. */
function plantLatin(connection: 'sftp' | 'ftp', name: string): string {
  const folder = inside(connection, name);
  const { uid, gid } = statSync(rootOf(connection));
  mkdirSync(folder);
  for (const file of [LATIN, NEIGHBOUR]) writeFileSync(below(folder, file), file);
  for (const place of [folder, ...[LATIN, NEIGHBOUR].map((file) => below(folder, file))]) chownSync(place, uid, gid);
  return folder;
}

describe('names that are not UTF-8', () => {
  for (const connection of ['sftp', 'ftp'] as const) {
    test(`${connection}: are listed with their bytes, and no path of text reaches another file by mistake`, async () => {
      const folder = plantLatin(connection, 'latin');
      const { files } = (await gateway.api.get(`/api/list/${connection}`, { query: { path: '/latin' } })).json as {
        files: { name: string; path: string; rawName: string }[];
      };
      const raw = files.map(({ rawName }) => rawName).sort();
      assert.deepEqual(raw, [LATIN, NEIGHBOUR].map((name) => name.toString('base64')).sort());
      const shown = '/latin/caf\ufffd.txt';
      assert.deepEqual(
        files.map(({ path }) => path),
        [shown, shown],
      );
      const tried = [
        gateway.api.get(`/api/download/${connection}`, { query: { path: shown } }),
        gateway.api.post(`/api/delete/${connection}`, { path: shown }),
        gateway.api.post(`/api/move/${connection}`, { from: shown, to: '/latin/moved.txt' }),
      ];
      for (const answer of await Promise.all(tried)) assert.equal(answer.status, 404, answer.text);
      const written = await gateway.api.post(`/api/write/${connection}`, { path: shown, content: 'mine' });
      assert.equal(written.status, 200, written.text);
      for (const name of [LATIN, NEIGHBOUR]) assert.ok(readFileSync(below(folder, name)).equals(name));
      held({
        area: 'Attacks',
        what: `${PROTOCOLS[connection]}: names that are not UTF-8`,
        done: 'two names that look the same as text; listed, then downloaded, deleted, moved and written by the text',
        held: 'rawName distinguishes them; the text names neither of them, so no file is taken for another',
        tries: 5,
      });
    });

    test(`${connection}: are handled by path and rawName together`, async () => {
      const folder = plantLatin(connection, 'raw');
      const path = '/raw/caf\ufffd.txt';
      const rawName = LATIN.toString('base64');
      const { api } = gateway;
      const found = await api.get(`/api/exists/${connection}`, { query: { path, rawName } });
      const { name, size, ...file } = found.json['file'] as Record<string, unknown>;
      assert.deepEqual([name, file['path'], size, file['rawName']], ['caf\ufffd.txt', path, LATIN.length, rawName]);
      const read = await api.get(`/api/read/${connection}`, { query: { path, rawName, encoding: 'base64' } });
      assert.deepEqual([read.json['content'], read.json['path']], [rawName, path], read.text);
      const downloaded = await api.get(`/api/download/${connection}`, { query: { path, rawName } });
      assert.equal(downloaded.status, 200);
      assert.deepEqual(downloaded.bytes, LATIN);
      const asJson = await api.get(`/api/download/${connection}`, { query: { path, rawName, format: 'json' } });
      assert.deepEqual([asJson.json['content'], asJson.json['path']], [rawName, path]);
      const source = { source_connection_id: connection, source_path: path, source_raw_name: rawName };
      const copied = await api.post('/api/copy', { ...source, dest_connection_id: 's3', dest_path: '/raw-copy.txt' });
      assert.equal(copied.status, 200, copied.text);
      const unnamed = await api.post('/api/copy', { ...source, dest_connection_id: 's3' });
      assert.match(unnamed.text, /dest_path is needed beside source_raw_name/);
      const moved = await api.post(`/api/move/${connection}`, { from: path, rawName, to: '/raw/café.txt' });
      assert.deepEqual([moved.status, moved.json['from']], [200, path], moved.text);
      assert.deepEqual(readFileSync(inside(connection, 'raw/café.txt')), LATIN);
      const gone = await api.post(`/api/delete/${connection}`, { path, rawName });
      assert.equal(gone.status, 404, gone.text);
      assert.match(gone.text, /caf\ufffd\.txt/);
      const neighbour = NEIGHBOUR.toString('base64');
      const deleted = await api.post(`/api/delete/${connection}`, { path, rawName: neighbour });
      assert.equal(deleted.status, 200, deleted.text);
      assert.deepEqual(readdirSync(folder), ['café.txt']);
      const { transfers } = (await api.get('/api/transfers', { query: { type: 'delete', limit: '1' } })).json as {
        transfers: { filename: string }[];
      };
      assert.equal(transfers[0]?.filename, 'caf\ufffd.txt');
      held({
        area: 'Attacks',
        what: `${PROTOCOLS[connection]}: names that are not UTF-8, handled`,
        done: 'found, read, downloaded, copied, moved and deleted by path and rawName',
        held: 'each operation met the one file of these bytes',
        tries: 9,
      });
    });
  }

  for (const connection of ['sftp', 'ftp'] as const) {
    test(`${connection}: a folder is opened by its bytes, and entries below it by the bytes from its name on`, async () => {
      const { api } = gateway;
      const { uid, gid } = statSync(rootOf(connection));
      const top = inside(connection, 'raw-folder');
      const folder = Buffer.from('caf\xe9', 'latin1');
      const deep = Buffer.from('caf\xe9/deep', 'latin1');
      mkdirSync(top);
      for (const name of [folder, deep]) mkdirSync(below(top, name));
      const files = [Buffer.from('caf\xe9/deep/plain.txt', 'latin1'), Buffer.from('caf\xe9/t\xe9.txt', 'latin1')];
      for (const file of files) writeFileSync(below(top, file), file);
      for (const name of [folder, deep, ...files]) chownSync(below(top, name), uid, gid);
      chownSync(top, uid, gid);
      interface Entry {
        readonly path: string;
        readonly isDirectory: boolean;
        readonly rawName?: string;
      }
      const list = async (query: Record<string, string>): Promise<readonly Entry[]> => {
        const answer = await api.get(`/api/list/${connection}`, { query });
        assert.equal(answer.status, 200, answer.text);
        return answer.json['files'] as readonly Entry[];
      };
      const met = new Map<string, string | undefined>();
      const walk = async (query: Record<string, string>): Promise<void> => {
        for (const { path, isDirectory, rawName } of await list(query)) {
          met.set(path, rawName);
          if (isDirectory) await walk({ path, ...(rawName === undefined ? {} : { rawName }) });
        }
      };
      await walk({ path: '/raw-folder' });
      const raw = (bytes: Buffer): string => bytes.toString('base64');
      const expected = [
        ['/raw-folder/caf\ufffd', raw(folder)],
        ['/raw-folder/caf\ufffd/deep', raw(deep)],
        ...files.map((file) => [`/raw-folder/${file.toString('utf8')}`, raw(file)]),
      ];
      assert.deepEqual([...met].sort(), expected.sort());
      const whole = await list({ path: '/raw-folder', recursive: 'true' });
      assert.deepEqual(whole.map(({ path, rawName }) => [path, rawName]).sort(), expected.sort());
      for (const file of files) {
        const query = { path: `/raw-folder/${file.toString('utf8')}`, rawName: raw(file) };
        const answer = await api.get(`/api/download/${connection}`, { query });
        assert.deepEqual([answer.status, answer.bytes], [200, file]);
        const deleted = await api.post(`/api/delete/${connection}`, query);
        assert.equal(deleted.status, 200, deleted.text);
      }
      const first = await api.get(`/api/list/${connection}`, {
        query: { path: '/raw-folder/caf\ufffd', rawName: raw(folder), limit: '1' },
      });
      assert.equal((first.json['files'] as unknown[]).length, 1, first.text);
    });
  }

  test('an invalid rawName is refused', async () => {
    const { api } = gateway;
    const raw = (bytes: Buffer | string): string => Buffer.from(bytes as string).toString('base64');
    for (const [path, rawName] of [
      ['/latin/other.txt', raw(LATIN)],
      ['/latin/caf\ufffd.txt', 'not base64'],
      ['/latin/caf\ufffd.txt', raw('../caf\ufffd.txt')],
      ['/latin/caf\ufffd.txt', raw(Buffer.concat([LATIN, Buffer.from('\r\nDELE x')]))],
      ['/latin/..', raw('..')],
      ['/', raw(LATIN)],
      ['/latin/caf\ufffd.txt', raw(Buffer.concat([Buffer.from('other/'), LATIN]))],
      ['/latin/caf\ufffd.txt', raw(Buffer.concat([Buffer.from('a/latin/'), LATIN]))],
    ] as const) {
      const answer = await api.post('/api/delete/sftp', { path, rawName });
      assert.equal(answer.status, 400, `${path} ${rawName}: ${answer.text}`);
    }
    const onS3 = await api.post('/api/delete/s3', { path: '/caf\ufffd.txt', rawName: raw(LATIN) });
    assert.match(onS3.text, /always UTF-8/);
  });
});

describe('names that would be header fields', () => {
  const NAMES = [
    'a"; filename="evil.exe',
    'a\\".txt',
    "a;filename*=UTF-8''evil.exe",
    'a%0d%0aX-Injected: 1',
    'a\u2028X-Injected: 1',
    'a\u560d\u560aX-Injected: 1',
    'é\u202egpj.exe',
    ' a ',
  ];
  /** Only on the server's disk: no request can name them. */
  const BROKEN = ['a\r\nX-Injected: 1', 'a\nX-Injected: 1\n\nbody'];

  test('Content-Disposition has one line, and contains the name', async () => {
    mkdirSync(inside('sftp', 'headers'));
    for (const name of [...NAMES, ...BROKEN]) writeFileSync(inside('sftp', `headers/${name}`), 'x');
    for (const name of NAMES) {
      for (const method of ['GET', 'HEAD']) {
        const response = await gateway.api.open('/api/download/sftp', { method, query: { path: `/headers/${name}` } });
        response.resume();
        assert.equal(response.statusCode, 200, name);
        assert.ok(!response.rawHeaders.some((field) => /^x-injected/i.test(field)), name);
        assert.equal(response.rawHeaders.filter((field) => /^content-disposition$/i.test(field)).length, 1);
        const field = contentDisposition.parse(response.headers['content-disposition'] ?? '');
        // A client that took a backslash for a separator would save elsewhere: the part before it is left out.
        assert.deepEqual([field.type, field.parameters['filename']], ['attachment', name.split('\\').at(-1)]);
        await once(response, 'close');
      }
    }
    const { files } = (await gateway.api.get('/api/list/sftp', { query: { path: '/headers' } })).json as {
      files: { name: string }[];
    };
    assert.deepEqual(files.map(({ name }) => name).sort(), [...NAMES].sort());
  });

  test('a webhook has them only in its body', async () => {
    const created = await gateway.api.post('/manage/watched-folders', {
      connectionId: 'sftp',
      path: '/headers',
      webhookUrl: receiver.url,
      initial: 'report',
      name: 'X-Injected: 1',
    });
    assert.equal(created.status, 201, created.text);
    await eventually(() => receiver.names().length === NAMES.length, 'the names');
    assert.deepEqual(receiver.names().sort(), [...NAMES].sort());
    for (const { headers } of receiver.received) {
      const known = ['connection', 'content-length', 'content-type', 'host', 'user-agent'];
      const more = ['traceparent', 'webhook-id', 'webhook-signature', 'webhook-timestamp'];
      assert.deepEqual(
        Object.keys(headers).filter((name) => ![...known, ...more].includes(name)),
        [],
      );
    }
    held({
      area: 'Attacks',
      what: 'Header injection by names of files',
      done: 'quotes, semicolons, encoded and real line ends, direction marks in names that are downloaded and sent to webhooks',
      held: 'one Content-Disposition that says the name; no header field but the known ones; names with line ends are not listed',
      tries: NAMES.length * 3 + BROKEN.length,
    });
  });
});

describe('patterns of death', () => {
  const LONG = 'a'.repeat(240);
  const GLOBS = [
    `${'*a'.repeat(500)}b`,
    `${'{a,aa}'.repeat(160)}b`,
    `${'?*'.repeat(500)}b`,
    `**/${'*a*'.repeat(200)}/**/b`,
    `${'{'.repeat(300)}a${',b}'.repeat(200)}${'}'.repeat(100)}`,
    `${'[!b]*'.repeat(200)}b`,
    '+(*)b',
    '*(*a)b',
    '(a*)+b',
    '@(a|!(c|*))*'.repeat(15),
    '{1..1000000}',
  ];
  const REFUSED = [{ doneFile: `${'{name}'.repeat(40)}x` }, { filePattern: '[a' }];
  const TEMPLATES = [
    '{'.repeat(1024),
    '{filename}'.repeat(100),
    '{}'.repeat(500),
    '{name'.repeat(200),
    '{date}'.repeat(170),
  ];

  test('are refused, or matched in one pass', async () => {
    mkdirSync(inside('sftp', 'death'));
    for (let n = 0; n < 30; n++) writeFileSync(inside('sftp', `death/${LONG}${n}`), '');
    const watch = async (rules: object) =>
      gateway.api.post('/manage/watched-folders', { connectionId: 'sftp', path: '/death', ...rules });
    for (const rules of REFUSED) {
      const answer = await watch(rules);
      assert.equal(answer.status, 400, `${JSON.stringify(rules)}: ${answer.text}`);
    }
    for (const template of TEMPLATES) {
      const query = { filename: LONG, filename_template: template };
      const headers = { 'Content-Type': 'application/octet-stream' };
      const answer = await gateway.api.send('/api/upload/sftp', { method: 'POST', query, body: 'x', headers });
      assert.equal(answer.status, 400, answer.text);
    }
    for (const filePattern of GLOBS) {
      const made = await watch({ filePattern });
      if (made.status === 400) continue;
      assert.equal(made.status, 201, made.text);
      const { id } = made.json as { id: string };
      const before = processorMsOf(gateway.pid);
      const answer = await gateway.api.send(`/manage/watched-folders/${id}/dry-run`, { method: 'POST' });
      const tookMs = processorMsOf(gateway.pid) - before;
      assert.equal(answer.status, 200, answer.text);
      // A pattern with backtracking would take hours for the first of the thirty names.
      assert.ok(tookMs < 1000, `${filePattern.slice(0, 20)}: ${tookMs} ms of the processor`);
      await gateway.api.send(`/manage/watched-folders/${id}`, { method: 'DELETE' });
    }
    held({
      area: 'Attacks',
      what: 'Globs, markers and templates of death',
      done: 'stars, braces, classes and nesting as long as a pattern may be, against names that nearly match; templates of a thousand tokens',
      held: 'refused with 400, or matched in one pass over each name, while other clients are served',
      tries: GLOBS.length + REFUSED.length + TEMPLATES.length,
    });
  });
});
