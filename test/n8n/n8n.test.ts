/** The nodes for n8n, as packed, against a running gateway: each operation on real files, for several items at once. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { INodeExecutionData } from 'n8n-workflow';
import {
  copyRequestFields,
  deleteFields,
  listFields,
  moveFields,
  uploadQueryFields,
  writeFields,
} from '../../src/contract/file-request.js';
import { linkFields } from '../../src/contract/link.js';
import { newFields } from '../../src/contract/thing.js';
import { stageN8n } from '../../src/release/n8n.js';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { eventually } from '../support/eventually.js';
import { openAccount, type TestAccount } from '../support/account.js';
import { KEY } from '../support/gateway.js';
import { load, type Loaded, N8n, type Parameters } from './context.js';

/** Characters that a URL could cut, or a path could misinterpret. */
const NAMES = ['a & b+#ü 100%.bin', '今日?=;.bin', 'empty.bin'];

let folder: string;
let loaded: Loaded;
let shell: TestSshd;
let gateway: TestAccount;
let n8n: N8n;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ftg-n8n-'));
  await stageN8n(join(folder, 'package'));
  loaded = load(join(folder, 'package'));
  shell = await startSshd();
  const privateKey = readFileSync(shell.clientKeyFile, 'utf8');
  const ssh = { type: 'sftp', host: '127.0.0.1', port: shell.port, username: shell.username, privateKey };
  gateway = await openAccount({
    connections: [{ id: 'shell', name: 'Shell', ...ssh, defaultPath: shell.files }],
    apiKeys: [{ name: 'all', key: KEY, scopes: ['read', 'write', 'watch'] }],
    sandbox: true,
  });
  n8n = new N8n(loaded, { baseUrl: `${gateway.url}/`, apiKey: gateway.keyOf(KEY) });
});

after(async () => {
  await gateway.stop();
  await shell.stop();
  rmSync(folder, { recursive: true, force: true });
});

const on = (resource: string, operation: string, ...items: readonly Parameters[]): Parameters[] =>
  items.map((item) => ({ resource, operation, connectionId: 'shell', ...item }));
const disk = (name: string): string => readFileSync(join(shell.files, name), 'utf8');
const put = (name: string, content: string): void => writeFileSync(join(shell.files, name), content);
const linked = (output: readonly INodeExecutionData[]): (number | undefined)[] =>
  output.map(({ pairedItem }) => pairedItem?.item);

test('n8n finds the modules that the manifest names, and needs no other package', () => {
  const { manifest } = loaded;
  assert.ok(manifest.keywords.includes('n8n-community-node-package'));
  assert.equal(manifest.dependencies, undefined);
  const dist = join(folder, 'package/dist');
  for (const file of [...manifest.n8n.nodes, ...manifest.n8n.credentials]) {
    const code = readFileSync(join(folder, 'package', file), 'utf8');
    const needed = [...code.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name);
    assert.deepEqual(
      needed.filter((name) => name !== 'n8n-workflow' && name !== 'node:crypto'),
      [],
    );
  }
  for (const { description } of [loaded.node, loaded.trigger]) {
    assert.ok(existsSync(join(dist, description.icon.replace('file:', ''))));
    assert.equal(description.credentials[0]?.name, loaded.credential.name);
    const codex = `${description.name.replace(/^f/, 'F')}.node.json`;
    const { node, resources } = JSON.parse(readFileSync(join(dist, codex), 'utf8')) as Record<string, unknown>;
    assert.equal(node, `${manifest.name}.${description.name}`);
    // Without it, n8n ignores the whole file.
    assert.deepEqual(resources, {});
  }
});

test('the node performs every operation of its form', async () => {
  const forms = loaded.node.description.properties.filter(({ name }) => name === 'operation');
  const all = forms.flatMap(({ displayOptions, options = [] }) =>
    options.map((option) => ({
      resource: String(displayOptions?.show['resource']?.[0]),
      operation: 'value' in option ? option.value : '',
    })),
  );
  assert.equal(all.length, 13);
  const parameters = all.map((one) => ({ ...one, connectionId: 'absent', path: '/x' }));
  for (const { json } of await n8n.execute({ parameters, continueOnFail: true })) {
    assert.doesNotMatch(String(json['error']), /no operation|the form/);
  }
});

test('an operation offers every option of its request that its form does not ask for', () => {
  const optionsOf = (resource: string, operation: string): readonly string[] => {
    const of = loaded.node.description.properties.find(({ name, displayOptions }) => {
      const { resource: [shownAt] = [], operation: all = [] } = displayOptions?.show ?? {};
      return name === 'options' && shownAt === resource && all.includes(operation);
    });
    return (of?.options ?? []).map(({ name }) => name).sort();
  };
  const others = (request: object, ...asked: readonly string[]): readonly string[] =>
    Object.keys(request)
      .filter((name) => !asked.includes(name) && !/^rawName$|^(source|dest)_/.test(name))
      .sort();
  assert.deepEqual(optionsOf('link', 'create'), others(newFields(linkFields), 'operation', 'expiresAt'));
  assert.deepEqual(optionsOf('file', 'upload'), others(uploadQueryFields, 'path', 'filename'));
  assert.deepEqual(optionsOf('file', 'copy'), others(copyRequestFields));
  assert.deepEqual(optionsOf('file', 'move'), others(moveFields, 'from', 'to'));
  assert.deepEqual(optionsOf('file', 'write'), others(writeFields, 'path', 'content', 'encoding'));
  assert.deepEqual(optionsOf('folder', 'delete'), others(deleteFields, 'path'));
  assert.deepEqual(optionsOf('folder', 'list'), others(listFields, 'path', 'limit', 'cursor'));
});

test('options reach the gateway: times, and links that take folders', async () => {
  const mtime = '2020-02-03T04:05:06Z';
  const written = on('file', 'write', { path: 'timed.txt', content: 'x', options: { mtime } });
  await n8n.execute({ parameters: written });
  assert.equal(statSync(join(shell.files, 'timed.txt')).mtime.toISOString(), '2020-02-03T04:05:06.000Z');
  const binary = { data: { data: 'eA==', mimeType: 'text/plain', fileName: 'timed-too.txt' } };
  const uploaded = on('file', 'upload', { options: { mtime, verify: 'readback' } });
  await n8n.execute({ parameters: uploaded, items: [{ json: {}, binary }] });
  assert.equal(statSync(join(shell.files, 'timed-too.txt')).mtime.toISOString(), '2020-02-03T04:05:06.000Z');
  const tree = on('link', 'create', { linkOperation: 'upload', path: shell.files, options: { folders: true } });
  const [link] = await n8n.execute({ parameters: tree });
  assert.equal(link?.json['folders'], true);
});

test('the credential is tested with its key, and lists its connections', async () => {
  assert.equal((await n8n.testCredential()).statusCode, 200);
  assert.deepEqual((await n8n.connections())?.map(({ value }) => value).slice(0, 2), ['shell', 'sandbox']);
  const other = new N8n(loaded, { baseUrl: gateway.url, apiKey: 'ftg_of-nobody-0123456789-abcdefgh' });
  assert.equal((await other.testCredential()).statusCode, 401);
  await assert.rejects(Promise.resolve(other.connections()), { httpCode: '401', description: /^Use a valid key\./ });
});

for (const mode of ['memory', 'filesystem']) {
  test(`files with any name are uploaded and downloaded completely; binary data: ${mode}`, async () => {
    const contents = [randomBytes(300_000), randomBytes(1), Buffer.alloc(0)];
    const items = contents.map((bytes, index): INodeExecutionData => {
      const fileName = `${mode} ${NAMES[index]}`;
      const inMemory = { data: bytes.toString('base64'), mimeType: 'application/octet-stream', fileName };
      return { json: {}, binary: { data: mode === 'memory' ? inMemory : n8n.keep(bytes, fileName) } };
    });
    const up = on('file', 'upload', { folder: '' }, { folder: shell.files }, {});
    const uploaded = await n8n.execute({ parameters: up, items, executionId: mode });
    assert.deepEqual(linked(uploaded), [0, 1, 2]);
    for (const [index, bytes] of contents.entries()) {
      assert.ok(readFileSync(join(shell.files, `${mode} ${NAMES[index]}`)).equals(bytes));
      assert.equal(uploaded[index]?.json['size'], bytes.length);
    }
    const down = on('file', 'download', ...NAMES.map((name) => ({ path: join(shell.files, `${mode} ${name}`) })));
    const downloaded = await n8n.execute({ parameters: down, items });
    assert.deepEqual(linked(downloaded), [0, 1, 2]);
    for (const [index, { json, binary }] of downloaded.entries()) {
      assert.ok(n8n.bytes(binary?.['data']?.id).equals(contents[index] ?? Buffer.alloc(1)));
      assert.deepEqual([json['size'], json['name']], [contents[index]?.length, `${mode} ${NAMES[index]}`]);
    }
  });
}

test('text is written, appended and read; files are moved, copied, found and deleted', async () => {
  const both = (operation: string, more: (name: string) => Parameters = () => ({})): Promise<INodeExecutionData[]> =>
    n8n.execute({
      parameters: on('file', operation, ...['one', 'two'].map((name) => ({ path: `${name}.txt`, ...more(name) }))),
    });
  await both('write', (content) => ({ content }));
  await both('append', () => ({ content: '!' }));
  assert.deepEqual(
    (await both('read')).map(({ json }) => json['content']),
    ['one!', 'two!'],
  );
  await both('copy', (name) => ({ destinationConnectionId: 'sandbox', destination: `/copies/${name}` }));
  await both('move', (name) => ({ destination: `done/${name}.txt` }));
  assert.deepEqual([disk('done/one.txt'), disk('done/two.txt')], ['one!', 'two!']);
  const exists = [{ path: 'one.txt' }, { connectionId: 'sandbox', path: '/copies/two' }];
  const found = await n8n.execute({ parameters: on('file', 'exists', ...exists) });
  assert.deepEqual(
    found.map(({ json }) => json['exists']),
    [false, true],
  );
  await n8n.execute({ parameters: on('file', 'delete', { path: 'done/one.txt' }, { path: 'done/two.txt' }) });
  assert.deepEqual(readdirSync(join(shell.files, 'done')), []);
});

test('folders are made, listed page by page, and deleted', async () => {
  const many = 1_005;
  await n8n.execute({ parameters: on('folder', 'create', { path: 'many' }, { path: 'few/below' }) });
  for (let index = 0; index < many; index++) put(`many/${index}.csv`, '');
  put('few/below/x.csv', 'x');
  const all = on('folder', 'list', { path: 'many', returnAll: true }, { path: 'many', limit: 3 });
  const listed = await n8n.execute({
    parameters: [...all, ...on('folder', 'list', { path: 'few', options: { recursive: true, pattern: '**/*.csv' } })],
  });
  const of = (item: number): string[] =>
    listed.filter(({ pairedItem }) => pairedItem?.item === item).map(({ json }) => String(json['name']));
  assert.deepEqual([new Set(of(0)).size, of(1).length, of(2).length], [many, 3, 1]);
  const recursive = { options: { recursive: true } };
  await n8n.execute({ parameters: on('folder', 'delete', ...['many', 'few'].map((path) => ({ path, ...recursive }))) });
  assert.deepEqual([existsSync(join(shell.files, 'many')), existsSync(join(shell.files, 'few'))], [false, false]);
});

test('Retry On Fail repeats nothing; the next run of a loop and the next execution do', async () => {
  for (const name of ['p.txt', 'q.txt']) put(name, '');
  const parameters = on('file', 'append', { path: 'p.txt', content: 'x' }, { path: 'q.txt', content: 'x' });
  const append = (more: object = {}): Promise<unknown> => n8n.execute({ parameters, executionId: '5', ...more });
  await append();
  await append();
  assert.deepEqual([disk('p.txt'), disk('q.txt')], ['x', 'x']);
  await append({ runIndex: 1 });
  await append({ executionId: '6' });
  assert.deepEqual([disk('p.txt'), disk('q.txt')], ['xxx', 'xxx']);
});

test('an error says what to do; the other items continue if allowed', async () => {
  put('there.txt', 'here');
  const parameters = on('file', 'read', { path: 'absent.txt' }, { path: 'there.txt' }, { path: '\ud800' });
  const output = await n8n.execute({ parameters, continueOnFail: true });
  assert.deepEqual(linked(output), [0, 1, 2]);
  const [absent, there, half] = output.map(({ json }) => json);
  assert.deepEqual([absent?.['code'], absent?.['status'], there?.['content']], ['not_found', 404, 'here']);
  assert.match(String(absent?.['remedy']), /^Check the folder/);
  assert.equal(half?.['code'], 'invalid_name');
  // n8n sends an item with this field to the error output.
  assert.deepEqual(
    output.map(({ error }) => error?.name ?? typeof error),
    ['Error', 'undefined', 'Error'],
  );
  const failing = n8n.execute({ parameters: on('file', 'download', { path: 'there.txt' }, { path: 'absent.txt' }) });
  await assert.rejects(failing, (thrown: Error & { description: string; context: { itemIndex: number } }) => {
    assert.equal(thrown.constructor.name, 'NodeApiError');
    assert.equal(thrown.context.itemIndex, 1);
    assert.match(thrown.description, /^Check the folder.* Code: not_found, request ID: \S+$/);
    return true;
  });
});

test('an answer of another server, and a cut download, are errors', async () => {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/api/read/') === true) return void response.end('<html>');
    response.writeHead(200, { 'Content-Length': 100 }).write('x'.repeat(10), () => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const other = new N8n(loaded, { baseUrl: urlOf(server), apiKey: KEY });
  const parameters = [...on('file', 'read', { path: '/x' }), ...on('file', 'download', { path: '/x' })];
  const output = await other.execute({ parameters, continueOnFail: true });
  assert.deepEqual(
    output.map(({ json }) => json['code']),
    ['invalid_answer', 'cut_download'],
  );
  server.close();
});

test('links open without a key, and only once if they are for one use', async () => {
  put('linked.txt', 'linked');
  const options = { maxUses: 1 };
  const forms = [
    { path: join(shell.files, 'linked.txt'), options },
    { linkOperation: 'upload', path: shell.files },
  ];
  const [down, up] = (await n8n.execute({ parameters: on('link', 'create', ...forms) })).map(({ json }) => json);
  assert.equal(await (await fetch(String(down?.['url']))).text(), 'linked');
  assert.equal((await fetch(String(down?.['url']))).status, 410);
  const sent = await fetch(`${String(up?.['url'])}?filename=by-link.txt`, { method: 'PUT', body: 'sent' });
  assert.ok(sent.ok, `${sent.status} ${await sent.text()}`);
  assert.equal(disk('by-link.txt'), 'sent');
});

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

test('the trigger subscribes once, accepts events that the gateway signed, and leaves nothing behind', async () => {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((rawBody) => {
      received.push({ headers: request.headers, rawBody });
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `${urlOf(server)}/webhook/w-1/webhook`;
  const webhooks = async (): Promise<readonly unknown[]> =>
    (await gateway.api.get('/api/webhooks')).json['webhooks'] as readonly unknown[];
  const wanted = { events: ['transfer.failed', 'connection.down'], connections: ['sandbox'] };
  assert.equal(await n8n.hook('checkExists', url, wanted), false);
  await n8n.hook('create', url, wanted);
  assert.equal(await n8n.hook('checkExists', url, wanted), true);
  // Activated again: with other events, or by an n8n that has lost its static data.
  assert.equal(await n8n.hook('checkExists', url, { ...wanted, events: ['job.finished'] }), false);
  await n8n.hook('create', url, wanted);
  assert.equal((await webhooks()).length, 1);
  for (const name of ['one', 'two']) await gateway.api.get(`/api/read/sandbox?path=/fail/permission/${name}`);
  await eventually(() => received.length === 2, 'both failures were sent');
  for (const request of received) {
    const [[item] = []] = (await n8n.webhook(request)).workflowData ?? [];
    assert.equal(item?.json['type'], 'transfer.failed');
    assert.equal(item?.json['webhookId'], request.headers['webhook-id']);
    const changed = { ...request, rawBody: Buffer.from(request.rawBody.toString().replace('failed', 'feigned')) };
    assert.deepEqual(await n8n.webhook(changed), { noWebhookResponse: true, status: 401 });
  }
  await n8n.hook('delete', url, wanted);
  assert.deepEqual([await webhooks(), n8n.staticData], [[], {}]);
  // There is no secret left to check a signature with.
  assert.equal((await n8n.webhook(received[0]!)).status, 503);
  server.close();
});

test('new files come one by one; an old message, another secret and a test start no workflow', async () => {
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const signed = (body: object, { by = secret, ageSeconds = 0 } = {}): Received => {
    const rawBody = Buffer.from(JSON.stringify(body));
    const time = String(Math.floor(Date.now() / 1_000) - ageSeconds);
    const mac = createHmac('sha256', Buffer.from(by.replace('whsec_', ''), 'base64'));
    const signature = mac.update(`m.${time}.`).update(rawBody).digest('base64');
    return {
      headers: { 'webhook-id': 'm', 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` },
      rawBody,
    };
  };
  n8n.staticData['secret'] = secret;
  const data = { connection: { id: 'shell' }, watchedFolder: { id: 'w' }, files: [{ name: 'a' }, { name: 'b' }] };
  const event = { type: 'watched_folder.files_detected', timestamp: new Date().toISOString(), data };
  const [files = []] = (await n8n.webhook(signed(event))).workflowData ?? [];
  assert.deepEqual(
    files.map(({ json }) => [json['name'], json['connectionId']]),
    [
      ['a', 'shell'],
      ['b', 'shell'],
    ],
  );
  const [whole = []] = (await n8n.webhook(signed(event), { splitFiles: false })).workflowData ?? [];
  assert.deepEqual(whole[0]?.json['data'], data);
  const refused = [
    signed(event, { ageSeconds: 301 }),
    signed(event, { ageSeconds: -310 }),
    signed(event, { by: 'eA==' }),
  ];
  for (const request of refused) {
    assert.deepEqual(await n8n.webhook(request), { noWebhookResponse: true, status: 401 });
  }
  assert.deepEqual(await n8n.webhook({ headers: signed(event).headers }), { noWebhookResponse: true, status: 415 });
  assert.deepEqual(await n8n.webhook(signed({ type: 'webhook.test' })), { noWebhookResponse: true, status: 200 });
});
