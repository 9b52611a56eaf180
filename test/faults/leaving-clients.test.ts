/**
 * The client leaves at every step: in each round the operation is held one piece later, its client leaves, and it
 * continues. However it ends, the remote has what the history says.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newest, type HistoryItem } from '../api/support.js';
import { RawClient } from '../http/support/raw-client.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import {
  behindProxy,
  contentOf,
  KIB,
  leavesNothing,
  nothingPending,
  PROTOCOLS,
  startServers,
  TITLES,
  warmUp,
  type ProtocolName,
  type Remote,
  type Servers,
} from './rig.js';
import { eventually } from '../support/eventually.js';

const CONTENT = contentOf('left', 100 * KIB);
const MOST_STEPS = 300;
/** Most of a sweep is waiting. */
const AT_ONCE = 6;
const KINDS = ['upload', 'copy', 'move', 'delete'] as const;
type Kind = (typeof KINDS)[number];
const DEEDS: Readonly<Record<Kind, string>> = {
  upload: 'an upload to',
  copy: 'a copy to',
  move: 'a move on',
  delete: 'a delete on',
};
/** A copy comes from another server. */
const SOURCES: Readonly<Record<ProtocolName, ProtocolName>> = { sftp: 's3', ftp: 'sftp', s3: 'ftp' };

describe('clients that leave at every step', () => {
  let servers: Servers;
  let gateway: TestGateway;
  let atRest: number;
  /** Each sweep has its own proxy and connection. */
  const lanes = new Map<string, Remote>();
  const laneOf = (id: string): Remote => lanes.get(id) ?? assert.fail(id);

  before(async () => {
    servers = await startServers();
    for (const protocol of PROTOCOLS) {
      for (const kind of [...KINDS, 'source']) {
        const id = `${protocol}-${kind}`;
        lanes.set(id, await behindProxy(servers[protocol], id));
      }
      await servers[protocol].disk.write('/source.bin', CONTENT);
    }
    gateway = await startGateway({
      connections: [...lanes.values()].map(({ connection }) => connection),
      config: { pools: { default: { idleTimeoutMs: 1_000 } } },
    });
    atRest = await warmUp(gateway);
  });

  after(async () => {
    await gateway?.stop();
    await Promise.all([...lanes.values()].map(({ proxy }) => proxy.stop()));
    if (servers !== undefined) await Promise.all(PROTOCOLS.map((protocol) => servers[protocol].stop()));
  });

  function send(client: RawClient, place: string, headers: Readonly<Record<string, string>>, body: Buffer): void {
    const lines = Object.entries({ Host: 'x', Authorization: `Bearer ${KEY}`, ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    client.send(`${place} HTTP/1.1\r\n${lines.join('')}Content-Length: ${body.length}\r\n\r\n`, body);
  }

  function sendJson(client: RawClient, place: string, value: unknown): void {
    send(client, place, { 'Content-Type': 'application/json' }, Buffer.from(JSON.stringify(value)));
  }

  function begin(kind: Kind, protocol: ProtocolName, name: string, client: RawClient): void {
    const id = `${protocol}-${kind}`;
    const [file, moved] = [`/${id}/${name}`, `/${id}/moved-${name}`];
    if (kind === 'upload') {
      const place = `POST /api/upload/${id}?path=/${id}&filename=${name}`;
      send(client, place, { 'Content-Type': 'application/octet-stream' }, CONTENT);
    } else if (kind === 'copy') {
      sendJson(client, 'POST /api/copy', {
        source_connection_id: `${SOURCES[protocol]}-source`,
        source_path: '/source.bin',
        dest_connection_id: id,
        dest_path: file,
      });
    } else if (kind === 'move') {
      sendJson(client, `POST /api/move/${id}`, { from: moved, to: file });
    } else {
      sendJson(client, `POST /api/delete/${id}`, { path: file });
    }
  }

  async function itemOf(id: string, name: string): Promise<HistoryItem | undefined> {
    return (await newest(gateway.api, 100)).find((item) => item.connectionId === id && item.filename === name);
  }

  /** Holds the operation's piece `at` until its client has left; undefined if it was finished before that. */
  async function round(kind: Kind, protocol: ProtocolName, at: number): Promise<HistoryItem | undefined> {
    const id = `${protocol}-${kind}`;
    const { proxy } = laneOf(id);
    const name = `${at}.bin`;
    const isReached = proxy.hold(at).then(() => true);
    const client = await RawClient.open(gateway.port);
    begin(kind, protocol, name, client);
    const wasReached = await Promise.race([isReached, client.answer().then(() => false)]);
    // The piece may belong to a login that the round before had begun.
    await eventually(async () => (await itemOf(id, name)) !== undefined, `${kind} ${protocol} at piece ${at} begins`);
    client.socket.resetAndDestroy();
    // A request that is answered now was read after the end of that connection.
    await gateway.api.get('/healthz');
    proxy.release();
    let item: HistoryItem | undefined;
    const hasEnded = async (): Promise<boolean> => {
      item = await itemOf(id, name);
      return item !== undefined && item.status !== 'pending';
    };
    await eventually(hasEnded, `${kind} ${protocol} at piece ${at} ends`);
    return wasReached ? item : undefined;
  }

  describe('sweeps', { concurrency: AT_ONCE }, () => {
    for (const protocol of PROTOCOLS) {
      for (const kind of KINDS) {
        const id = `${protocol}-${kind}`;
        void test(`${DEEDS[kind]} ${TITLES[protocol]}`, async () => {
          const { disk } = laneOf(id).server;
          const standing: string[] = [];
          let rounds = 0;
          for (let at = 1; ; at++) {
            assert.ok(at < MOST_STEPS, `no operation came through within ${MOST_STEPS} pieces`);
            const [before, done] =
              kind === 'move' ? [[`/${id}/moved-${at}.bin`], [`/${id}/${at}.bin`]] : [[], [`/${id}/${at}.bin`]];
            const untouched = kind === 'delete' ? done : before;
            for (const file of untouched) await disk.write(file, CONTENT);
            const item = await round(kind, protocol, at);
            if (item === undefined) {
              standing.push(...(kind === 'delete' ? [] : done));
              break;
            }
            rounds++;
            const isDone = item.status === 'success';
            if (!isDone) assert.match(item.errorMessage ?? '', /client/);
            const expected = isDone ? (kind === 'delete' ? [] : done) : untouched;
            const files = (await disk.files(`/${id}`)).filter((file) => [...before, ...done].includes(file));
            assert.deepEqual(files, expected, `at piece ${at}: ${item.status}`);
            standing.push(...expected);
          }
          assert.ok(rounds >= 2, `${rounds} rounds`);
          let left: readonly string[] = [];
          const isClean = async (): Promise<boolean> => {
            left = (await disk.files(`/${id}`)).filter((file) => !standing.includes(file));
            return left.length === 0;
          };
          await eventually(isClean, `/${id} is clean`).catch((error: unknown) => {
            throw new Error(`${id} still holds ${left.join(', ')}`, { cause: error });
          });
          for (const file of standing) assert.ok((await disk.read(file)).equals(CONTENT), file);
          held({
            area: 'Faults',
            what: `the client of ${DEEDS[kind]} ${TITLES[protocol]} leaves`,
            done: 'one piece later in each round, from the first of the login to the last of the operation',
            held: 'done and recorded as done, or not done and recorded as failed; no half and no hidden file stays',
            tries: 1,
          });
        });
      }
    }
  });

  test('nothing is pending, leased or open', async () => {
    assert.ok(await nothingPending(gateway));
    await leavesNothing(gateway, atRest);
  });
});
