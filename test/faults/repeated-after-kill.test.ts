/**
 * The gateway is killed while requests with an Idempotency-Key are held at one step after the other, and each is sent
 * again to the next gateway. Former defects: an append was in the file twice, and a finished move was answered with
 * 404.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newest, type HistoryItem } from '../api/support.js';
import { SFTP_SERVERS, type TestServer } from '../servers/catalogue.js';
import { startGateway, type ApiAnswer, type ApiClient, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { behindProxy, answerText, type Remote } from './rig.js';
import { eventually } from '../support/eventually.js';

const ROUNDS = 9;
const BASE = 'what stood there\n';
const MORE = 'and one line more\n';

interface Kind {
  readonly name: string;
  readonly send: (api: ApiClient, folder: string, headers: Record<string, string>) => Promise<ApiAnswer>;
}

const raw = (headers: Record<string, string>) => ({ 'Content-Type': 'application/octet-stream', ...headers });
const KINDS: readonly Kind[] = [
  {
    name: 'upload',
    send: (api, folder, headers) =>
      api.send('/api/upload/upload', {
        method: 'POST',
        query: { path: folder, filename: 'new' },
        headers: raw(headers),
        body: MORE,
      }),
  },
  ...(
    [
      ['write', { path: 'new', content: MORE }],
      ['append', { path: 'old', content: MORE }],
      ['move', { from: 'old', to: 'new' }],
      ['mkdir', { path: 'new' }],
      ['delete', { path: 'old' }],
    ] as const
  ).map(([name, fields]): Kind => ({
    name,
    send: (api, folder, headers) => {
      const body = Object.fromEntries(
        Object.entries(fields).map(([field, value]) => [field, field === 'content' ? value : `${folder}/${value}`]),
      );
      return api.post(`/api/${name}/${name}`, body, { headers });
    },
  })),
  {
    name: 'copy',
    send: (api, folder, headers) => {
      const [source, target] = [`${folder}/old`, `${folder}/new`];
      const body = { source_connection_id: 'copy', source_path: source, dest_connection_id: 'copy', dest_path: target };
      return api.post('/api/copy', body, { headers });
    },
  },
];

describe('a gateway that dies under requests with an Idempotency-Key', () => {
  let server: TestServer;
  const lanes = new Map<string, Remote>();
  const laneOf = (name: string): Remote => lanes.get(name) ?? assert.fail(name);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'ftg-repeated-'));
  let gateway: TestGateway | undefined;

  before(async () => {
    server = await (SFTP_SERVERS[1] ?? assert.fail()).start();
    for (const { name } of KINDS) lanes.set(name, await behindProxy(server, name));
  });

  after(async () => {
    await gateway?.stop();
    for (const { proxy } of lanes.values()) await proxy.stop();
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const start = (): Promise<TestGateway> =>
    startGateway({ dataDir, connections: [...lanes.values()].map(({ connection }) => connection) });

  test('a request that had begun never runs again, at every step', { timeout: 900_000 }, async () => {
    const tally = { unknown: 0, answered: 0 };
    for (let step = 1; step <= ROUNDS; step++) {
      gateway ??= await start();
      const { api } = gateway;
      const folderOf = (name: string): string => `/round-${step}/${name}`;
      for (const { name } of KINDS) {
        await server.disk.write(`${folderOf(name)}/old`, BASE);
        // Sessions are open: only the steps of the operation itself count.
        assert.equal((await api.get(`/api/exists/${name}`, { query: { path: '/' } })).status, 200);
      }
      const first = new Map<string, ApiAnswer>();
      await Promise.all(
        KINDS.map(async ({ name, send }) => {
          const standing = laneOf(name).proxy.hold(step);
          const answer = send(api, folderOf(name), { 'Idempotency-Key': `${name}-${step}` }).then(
            (answer) => void first.set(name, answer),
            () => undefined,
          );
          await Promise.race([standing, answer]);
        }),
      );
      const answered = new Map(first);
      await gateway.kill();
      api.close();
      for (const { proxy } of lanes.values()) proxy.release();
      gateway = await start();

      for (const { name, send } of KINDS) {
        const folder = folderOf(name);
        const where = `${name}, step ${step}`;
        const before = await quiet(folder);
        const repeated = await send(gateway.api, folder, { 'Idempotency-Key': `${name}-${step}` });
        const former = answered.get(name);
        if (former !== undefined) {
          tally.answered++;
          assert.deepEqual([repeated.status, repeated.text], [former.status, former.text], where);
        } else {
          tally.unknown++;
          assert.equal(repeated.headers['x-error-code'], 'outcome_unknown', `${where}: ${answerText(repeated)}`);
          await namesItsTransfer(gateway.api, name, repeated, before);
        }
        assert.deepEqual(await look(folder), before, `${where}: nothing is done on the remote`);
        const items: readonly HistoryItem[] = (await newest(gateway.api, 100)).filter(
          (item) => item.type === name && `${item.path}/`.startsWith(`${folder}/`),
        );
        assert.equal(items.length, 1, `${where}: one item in the history`);
      }
    }
    assert.ok(tally.unknown >= ROUNDS && tally.answered > 0, JSON.stringify(tally));
    held({
      area: 'Faults',
      what: 'the gateway is killed (SIGKILL) under requests with an Idempotency-Key, and each is repeated',
      done: 'upload, write, append, copy, move, mkdir and delete on SFTP, each standing still at one step after the other',
      held: 'what was answered gives its first answer; what had begun is 409 outcome_unknown with its transfer and what is there, and never runs again',
      tries: ROUNDS * KINDS.length,
    });
  });

  test('an append whose session is lost at any step is in the file at most once', { timeout: 900_000 }, async () => {
    gateway ??= await start();
    const { api } = gateway;
    const { proxy } = laneOf('append');
    const [kind] = KINDS.filter(({ name }) => name === 'append');
    let lost = 0;
    let step = 1;
    for (; step <= 40; step++) {
      const folder = `/lost-${step}`;
      await server.disk.write(`${folder}/old`, BASE);
      assert.equal((await api.get('/api/exists/append', { query: { path: '/' } })).status, 200);
      proxy.arm('reset', step);
      const headers = { 'Idempotency-Key': `lost-${step}` };
      const first = await kind?.send(api, folder, headers);
      const { hasFailed } = proxy;
      proxy.disarm();
      const again = await kind?.send(api, folder, headers);
      const where = `step ${step}: ${first?.status} ${first?.text}, then ${again?.status} ${again?.text}`;
      const { [`${folder}/old`]: content } = await quiet(folder);
      if (first?.status === 200 || again?.status === 200) assert.equal(content, BASE + MORE, where);
      else {
        assert.equal(again?.headers['x-error-code'], 'outcome_unknown', where);
        assert.ok([BASE, BASE + MORE].includes(content ?? ''), where);
        lost++;
      }
      if (!hasFailed) break;
    }
    assert.ok(lost > 0 && step > 3, `${lost} of ${step}`);
  });

  /** The transfer, by an id that the history knows, and what can be seen of it. */
  async function namesItsTransfer(
    api: ApiClient,
    name: string,
    { json }: ApiAnswer,
    files: Readonly<Record<string, string>>,
  ): Promise<void> {
    const text = String(json['error']);
    const [, id] = /transfer ([0-9a-f-]{36})/.exec(text) ?? [];
    const { transfers } = (await api.get('/api/transfers', { query: { type: name, limit: '100' } })).json;
    const item = (transfers as { id: string; status: string }[]).find((one) => one.id === id);
    assert.ok(item !== undefined, text);
    assert.notEqual(item.status, 'pending');
    const sizes = Object.entries(files).map(([file, content]) => `${file} is a file of ${content.length} bytes now`);
    const target = name === 'append' || name === 'delete' ? '/old' : '/new';
    const [seen] = sizes.filter((one) => one.includes(`${target} is`));
    assert.match(
      text,
      seen === undefined ? /there is nothing at|is a folder now/ : new RegExp(seen.replaceAll('/', '.')),
    );
  }

  async function look(folder: string): Promise<Record<string, string>> {
    const files = await server.disk.files(folder);
    const named = files.filter((file) => !path.basename(file).startsWith('.ftg-'));
    return Object.fromEntries(
      await Promise.all(named.map(async (file) => [file, (await server.disk.read(file)).toString()] as const)),
    );
  }

  /** The server may still be working on what the killed gateway had sent. */
  async function quiet(folder: string): Promise<Record<string, string>> {
    let last = '';
    let unchanged = 0;
    await eventually(async () => {
      const now = JSON.stringify(await look(folder));
      unchanged = now === last ? unchanged + 1 : 0;
      last = now;
      return unchanged === 4;
    }, 'the server has done what it was asked');
    return JSON.parse(last) as Record<string, string>;
  }
});
