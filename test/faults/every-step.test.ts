/**
 * The remote fails at every step: in each round one more piece passes the proxy, from the first of the login to the
 * last of the operation, until a round finishes without a fault. After each round the target is the complete old or new
 * file, and answer and history agree with it; in the end nothing else is left anywhere.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { uploadRaw, type HistoryItem } from '../api/support.js';
import { startGateway, type ApiAnswer, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import {
  behindProxy,
  contentOf,
  KIB,
  lastItemOf,
  leavesNothing,
  nothingPending,
  PROTOCOLS,
  startServers,
  TITLES,
  answerText,
  warmUp,
  type ProtocolName,
  type Remote,
  type Servers,
} from './rig.js';
import type { Fault } from '../support/proxy.js';
import { eventually } from '../support/eventually.js';

const SIZE = 100 * KIB;
/** Silence is noticed soon; on other connections a busy machine must not be taken for it. */
const SOON = { stallTimeoutMs: 1_500, connectTimeoutMs: 4_000 };
const MOST_STEPS = 300;
/** How often a round may end by its short limits before its fault: caused by a busy machine, not by the piece. */
const MOST_TOO_SLOW = 100;
/** Every single piece (`FAULTS=all`), or this many between one round and the next. */
const STRIDE: Readonly<Record<Fault, number>> =
  process.env['FAULTS'] === 'all' ? { reset: 1, end: 1, stall: 1 } : { reset: 4, end: 9, stall: 29 };
/** Codes that a client may get if the server cut the connection, or became silent. */
const CODES: Readonly<Record<string, number>> = {
  connection_lost: 502,
  protocol_error: 502,
  unreachable: 502,
  stall_timeout: 504,
  connect_timeout: 504,
};

const FAULT_WORDS: Readonly<Record<Fault, string>> = {
  reset: 'the connections are reset',
  end: 'the connections are closed in good order',
  stall: 'the connections fall silent',
};
const PAIRS = [
  ['sftp', 'ftp'],
  ['ftp', 's3'],
  ['s3', 'sftp'],
] as const;
/** Most of each sweep is waiting for a timeout, or for the hidden file of the last round to be removed. */
const AT_ONCE = 9;

describe('a remote that fails at every step', () => {
  let servers: Servers;
  let gateway: TestGateway;
  let atRest: number;
  let number = 0;
  /** Each sweep has its own proxies and connections. */
  const lanes = new Map<string, Remote>();
  const laneIds: [string, ProtocolName][] = [
    ...PROTOCOLS.flatMap((protocol) =>
      ['upload-reset', 'upload-end', 'upload-stall', 'download-reset', 'download-stall'].map(
        (id): [string, ProtocolName] => [`${protocol}-${id}`, protocol],
      ),
    ),
    ...PAIRS.flatMap(([source, target]) =>
      ['source-reset', 'source-stall', 'target-reset', 'target-stall'].flatMap((id): [string, ProtocolName][] => [
        [`${source}-${target}-${id}-from`, source],
        [`${source}-${target}-${id}-to`, target],
      ]),
    ),
  ];

  before(async () => {
    servers = await startServers();
    for (const [id, protocol] of laneIds) lanes.set(id, await behindProxy(servers[protocol], id));
    gateway = await startGateway({
      connections: [...lanes.values()].map(({ connection }) => connection),
      config: {
        pools: {
          default: { idleTimeoutMs: 1_000 },
          hosts: Object.fromEntries(
            [...lanes].filter(([id]) => id.includes('stall')).map(([, { proxy }]) => [`127.0.0.1:${proxy.port}`, SOON]),
          ),
        },
      },
    });
    atRest = await warmUp(gateway);
  });

  after(async () => {
    await gateway?.stop();
    await Promise.all([...lanes.values()].map(({ proxy }) => proxy.stop()));
    if (servers !== undefined) await Promise.all(PROTOCOLS.map((protocol) => servers[protocol].stop()));
  });

  const laneOf = (id: string): Remote => lanes.get(id) ?? assert.fail(id);
  const lastItem = async (id: string): Promise<HistoryItem> =>
    (await lastItemOf(gateway, id)) ?? assert.fail('no history item');

  function failed(answer: ApiAnswer, item: HistoryItem, where: string): void {
    assert.equal(answer.status, CODES[String(answer.headers['x-error-code'])], `${where}: ${answerText(answer)}`);
    assert.deepEqual([item.status, item.errorMessage], ['failed', answer.json['error']], where);
  }

  /**
   * Repeats `round` with a later fault each time until one succeeds without; resolves with the number of rounds before
   * that.
   */
  async function sweep(failing: string, fault: Fault, round: (where: string) => Promise<boolean>): Promise<number> {
    const { proxy } = laneOf(failing);
    let tooSlow = 0;
    for (let at = 1, rounds = 0; at < MOST_STEPS; at += STRIDE[fault], rounds++) {
      proxy.arm(fault, at);
      const succeeded = await round(`${fault} at piece ${at}`);
      proxy.disarm();
      if (!proxy.hasFailed && !succeeded && tooSlow++ < MOST_TOO_SLOW) at -= STRIDE[fault];
      if (!succeeded || proxy.hasFailed) continue;
      assert.ok(rounds >= 1, 'no round failed');
      return rounds;
    }
    throw new Error(`no operation came through within ${MOST_STEPS} pieces`);
  }

  /**
   * The file is the old or the new one, as answer and history say; anything else, and a wrong answer, fails. A server may
   * apply a failed round late, when the next ones run: its file may be there then, too.
   */
  async function replaces(
    id: string,
    type: string,
    where: string,
    place: { readonly file: string; readonly possible: readonly Buffer[]; readonly content: Buffer },
    send: () => Promise<ApiAnswer>,
  ): Promise<{ readonly isSuccess: boolean; readonly possible: readonly Buffer[] }> {
    const answer = await send();
    const item = await lastItem(id);
    assert.equal(item.type, type, where);
    const now = await laneOf(id).server.disk.read(place.file);
    const isSuccess = answer.status === 200;
    const possible = isSuccess ? [place.content] : [...place.possible, place.content];
    if (isSuccess) {
      assert.ok(now.equals(place.content), `${where}: answered 200, but the file is another one`);
      assert.deepEqual([item.status, item.fileSize], ['success', SIZE], where);
    } else {
      failed(answer, item, where);
      // The connection may die between the server's action and its reply.
      assert.ok(
        possible.some((one) => now.equals(one)),
        `${where}: half a file of ${now.length} bytes`,
      );
    }
    return { isSuccess, possible };
  }

  async function holdsOnly(id: string, folder: string, files: readonly string[]): Promise<void> {
    const { disk } = laneOf(id).server;
    let seen: string[] = [];
    const look = async (): Promise<boolean> => {
      seen = (await disk.files(folder)).filter((file) => !file.endsWith('/source.bin'));
      return JSON.stringify(seen) === JSON.stringify(files);
    };
    await eventually(look, `${folder} holds its file alone`).catch((error: unknown) => {
      throw new Error(`${id} still holds ${seen.join(', ')}`, { cause: error });
    });
  }

  function uploads(protocol: ProtocolName, fault: Fault): Promise<void> {
    const id = `${protocol}-upload-${fault}`;
    return test(`${protocol}: upload, ${fault}`, async () => {
      const [folder, file] = [`/${id}`, `/${id}/upload.bin`];
      const { disk } = laneOf(id).server;
      let possible: readonly Buffer[] = [contentOf('first', SIZE)];
      await disk.write(file, possible[0] ?? assert.fail());
      const rounds = await sweep(id, fault, async (where) => {
        const content = contentOf(`${++number}`, SIZE);
        const send = (): Promise<ApiAnswer> =>
          uploadRaw(gateway.api, id, { path: folder, filename: 'upload.bin' }, content);
        const round = await replaces(id, 'upload', where, { file, possible, content }, send);
        ({ possible } = round);
        return round.isSuccess;
      });
      await holdsOnly(id, folder, [file]);
      held({
        area: 'Faults',
        what: `${TITLES[protocol]}: ${FAULT_WORDS[fault]} during an upload`,
        done: 'a few pieces later in each round, from the first of the login to the last after the rename',
        held: 'old or new file, whole; answer and history agree with it; no hidden file stays',
        tries: rounds,
      });
    });
  }

  function downloads(protocol: ProtocolName, fault: Fault): Promise<void> {
    const id = `${protocol}-download-${fault}`;
    return test(`${protocol}: download, ${fault}`, async () => {
      const file = `/${id}/download.bin`;
      const content = contentOf('download', SIZE);
      await laneOf(id).server.disk.write(file, content);
      const rounds = await sweep(id, fault, async (where) => {
        const response = await gateway.api.open(`/api/download/${id}`, { query: { path: file } });
        const chunks: Buffer[] = [];
        let isWhole = true;
        try {
          for await (const chunk of response) chunks.push(chunk as Buffer);
        } catch {
          isWhole = false;
        }
        const body = Buffer.concat(chunks);
        // Recorded before it is answered.
        const item = await lastItem(id);
        assert.equal(item.type, 'download', where);
        if (response.statusCode === 200 && isWhole) {
          assert.ok(body.equals(content), `${where}: a whole answer of ${body.length} bytes that is not the file`);
          assert.equal(item.status, 'success', where);
        } else if (response.statusCode === 200) {
          assert.ok(body.length < SIZE && body.equals(content.subarray(0, body.length)), where);
          assert.equal(item.status, 'failed', where);
        } else {
          const code = String(response.headers['x-error-code']);
          assert.equal(response.statusCode, CODES[code], `${where}: ${body.toString()}`);
          const { error } = JSON.parse(body.toString()) as { error: string };
          assert.deepEqual([item.status, item.errorMessage], ['failed', error], where);
        }
        return response.statusCode === 200 && isWhole;
      });
      held({
        area: 'Faults',
        what: `${TITLES[protocol]}: ${FAULT_WORDS[fault]} during a download`,
        done: 'a few pieces later in each round, from the first of the login to the last of the file',
        held: 'the whole file, an error, or a cut answer, never a short one that looks whole; history agrees',
        tries: rounds,
      });
    });
  }

  function copies(
    source: ProtocolName,
    target: ProtocolName,
    failing: 'source' | 'target',
    fault: Fault,
  ): Promise<void> {
    const id = `${source}-${target}-${failing}-${fault}`;
    return test(`copy ${source} to ${target}, ${fault} of the ${failing}`, async () => {
      const [from, file] = [`/${id}/source.bin`, `/${id}/target.bin`];
      const [fromId, toId] = [`${id}-from`, `${id}-to`];
      let possible: readonly Buffer[] = [contentOf('first', SIZE)];
      await laneOf(toId).server.disk.write(file, possible[0] ?? assert.fail());
      const rounds = await sweep(failing === 'source' ? fromId : toId, fault, async (where) => {
        const content = contentOf(`${++number}`, SIZE);
        await laneOf(fromId).server.disk.write(from, content);
        const body = { source_connection_id: fromId, source_path: from, dest_connection_id: toId, dest_path: file };
        const send = (): Promise<ApiAnswer> => gateway.api.post('/api/copy', body);
        const round = await replaces(toId, 'copy', where, { file, possible, content }, send);
        ({ possible } = round);
        return round.isSuccess;
      });
      await holdsOnly(toId, `/${id}`, [file]);
      held({
        area: 'Faults',
        what: `copy from ${TITLES[source]} to ${TITLES[target]}: ${FAULT_WORDS[fault]} on the side of the ${failing}`,
        done: 'a few pieces later in each round, from the first of the login to the last of the copy',
        held: 'old or new file, whole; answer and history agree with it; no hidden file stays',
        tries: rounds,
      });
    });
  }

  describe('sweeps', { concurrency: AT_ONCE }, () => {
    for (const protocol of PROTOCOLS) {
      for (const fault of ['reset', 'end', 'stall'] as const) void uploads(protocol, fault);
      for (const fault of ['reset', 'stall'] as const) void downloads(protocol, fault);
    }
    for (const [source, target] of PAIRS) {
      for (const failing of ['source', 'target'] as const) {
        for (const fault of ['reset', 'stall'] as const) void copies(source, target, failing, fault);
      }
    }
  });

  test('nothing is pending, leased or open, and the next requests work', async () => {
    assert.ok(await nothingPending(gateway));
    await leavesNothing(gateway, atRest);
    const next = (id: string): Promise<ApiAnswer> =>
      uploadRaw(gateway.api, id, { path: '/', filename: 'last' }, 'good');
    for (const protocol of PROTOCOLS) {
      const answer = await next(`${protocol}-upload-reset`);
      assert.equal(answer.status, 200, answerText(answer));
      // On a connection with short limits, a busy machine may look like a silent server.
      const works = async (): Promise<boolean> => (await next(`${protocol}-upload-stall`)).status === 200;
      await eventually(works, `${protocol}: the lane that stalled works`);
    }
  });
});
