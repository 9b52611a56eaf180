/**
 * The gateway is killed at random under load, again and again: acknowledged files are complete on the remote and
 * successes in the history; for everything else, nothing contradicts the disk and nothing is left.
 */
import assert from 'node:assert/strict';
import { createHash, randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { uploadRaw, type HistoryItem } from '../api/support.js';
import type { Disk } from '../servers/catalogue.js';
import { type ApiAnswer, type ApiClient, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { contentOf, KIB, MIB, overRemotes, PROTOCOLS, startRemotes, type ProtocolName } from './rig.js';
import { eventually } from '../support/eventually.js';

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? (process.env['FAULTS'] === 'all' ? 30 : 6));
const WRITERS = 4;

/** An upload or copy that was sent; its answer, if one arrived. */
interface Sent {
  readonly connection: ProtocolName;
  readonly file: string;
  readonly size: number;
  readonly digest: string;
  status: number | undefined;
}

describe('kill -9 at random under load', () => {
  let remotes: Awaited<ReturnType<typeof startRemotes>>;
  const dataDir = mkdtempSync(path.join(tmpdir(), 'ftg-kill-'));
  const source = contentOf('source of copies', 2 * MIB);
  let gateway: TestGateway | undefined;

  before(async () => {
    remotes = await startRemotes();
    for (const protocol of PROTOCOLS) await remotes[protocol].server.disk.write('/source.bin', source);
  });

  after(async () => {
    await gateway?.stop();
    await remotes?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test(`${ROUNDS} rounds`, async (t) => {
    let number = 0;
    const wanted: string[] = [];
    const tally = { acknowledged: 0, unanswered: 0, downloads: 0 };
    for (let round = 1; round <= ROUNDS; round++) {
      // The gateway of the round before continues: it was started on what the kill had left.
      gateway ??= await overRemotes(remotes, { dataDir });
      const sent: Sent[] = [];
      const load = new AbortController();
      const { api } = gateway;
      const working = PROTOCOLS.flatMap((protocol) => [
        ...Array.from({ length: WRITERS }, () =>
          repeat(load.signal, async () => {
            const size = [KIB, 300 * KIB, 6 * MIB][randomInt(3)] ?? KIB;
            await upload(api, sent, protocol, `/round-${round}/${++number}.bin`, size);
          }),
        ),
        repeat(load.signal, () => copy(api, sent, protocol, `/round-${round}/${++number}.copy`)),
        repeat(load.signal, async () => {
          const { status, bytes } = await api.get(`/api/download/${protocol}`, { query: { path: '/source.bin' } });
          if (status !== 200) return;
          assert.ok(bytes.equals(source), 'a download that ended well is the file');
          tally.downloads++;
        }),
      ]);
      // Every other kill happens at any time, even before the first login; the others during transfers.
      const isBusy = (): boolean => tally.downloads > 0 && sent.some(({ status }) => status === 200);
      if (round % 2 === 0) await eventually(isBusy, 'files come and go');
      await delay(randomInt(300, 1_500));
      load.abort();
      await gateway.kill();
      api.close();
      await Promise.all(working);

      gateway = await overRemotes(remotes, { dataDir });
      await everythingAgrees(gateway, sent, round);
      tally.acknowledged += sent.filter(({ status }) => status === 200).length;
      tally.unanswered += sent.filter(({ status }) => status === undefined).length;
      wanted.push(...sent.map(({ connection, file }) => connection + file));
    }
    await leftoversGo(new Set(wanted));
    assert.equal(await gateway?.stop(), 0);
    t.diagnostic(JSON.stringify(tally));
    assert.ok(
      tally.acknowledged >= ROUNDS / 2 && tally.unanswered >= ROUNDS && tally.downloads >= 1,
      JSON.stringify(tally),
    );
    held({
      area: 'Faults',
      what: 'the gateway is killed (SIGKILL)',
      done: 'at random under uploads, copies and downloads on SFTP, FTP and S3, then started again on the same data',
      held: 'acknowledged uploads are whole and a success in the history, no other file is half, no item pending, leftovers removed',
      tries: ROUNDS,
    });
  });

  async function upload(
    api: ApiClient,
    sent: Sent[],
    connection: ProtocolName,
    file: string,
    size: number,
  ): Promise<void> {
    const content = contentOf(file, size);
    const item: Sent = { connection, file, size, digest: digestOf(content), status: undefined };
    sent.push(item);
    const query = { path: path.posix.dirname(file), filename: path.posix.basename(file) };
    // Without a length, S3 stores it in parts.
    const isChunked = size > MIB && randomInt(2) === 0;
    const answer = isChunked
      ? await api.send(`/api/upload/${connection}`, {
          method: 'POST',
          query,
          body: Readable.from([content.subarray(0, MIB), content.subarray(MIB)]),
          headers: { 'Content-Type': 'application/octet-stream' },
        })
      : await uploadRaw(api, connection, query, content);
    item.status = answer.status;
  }

  async function copy(api: ApiClient, sent: Sent[], from: ProtocolName, file: string): Promise<void> {
    const connection = PROTOCOLS[(PROTOCOLS.indexOf(from) + 1) % PROTOCOLS.length] ?? 'sftp';
    const item: Sent = { connection, file, size: source.length, digest: digestOf(source), status: undefined };
    sent.push(item);
    const answer = await api.post('/api/copy', {
      source_connection_id: from,
      source_path: '/source.bin',
      dest_connection_id: connection,
      dest_path: file,
    });
    item.status = answer.status;
  }

  async function everythingAgrees(running: TestGateway, sent: readonly Sent[], round: number): Promise<void> {
    // Ready means ready: the first request is served, and no item of the dead process is under way any more.
    assert.equal((await running.api.get('/readyz')).status, 200);
    const pending = await running.api.get('/api/transfers', { query: { status: 'pending' } });
    assert.equal(pending.json['total'], 0, 'no item stays pending');
    const history = await itemsBelow(running.api, `/round-${round}/`);
    for (const protocol of PROTOCOLS) {
      const { disk } = remotes[protocol].server;
      const mine = sent.filter(({ connection }) => connection === protocol);
      const onDisk = await digests(disk, `/round-${round}/`, mine);
      for (const { file, status, digest, size } of mine) {
        const items = history.filter((item) => item.connectionId === protocol && item.path === file);
        const [item] = items;
        const found = onDisk.get(file);
        const where = `${protocol}${file}: answer ${status}, history ${item?.status}`;
        assert.ok(items.length <= 1, where);
        assert.ok(found === undefined || found === digest, `${where}: the file on the disk is not whole`);
        if (status === 200) {
          assert.equal(item?.status, 'success', where);
          assert.equal(item?.fileSize, size, where);
        }
        if (item?.status === 'success') assert.equal(found, digest, `${where}: no such file`);
        assert.notEqual(item?.status, 'pending', where);
      }
    }
  }

  /** Cleaning continues during the next rounds; in the end each disk has what was sent, and nothing hidden. */
  async function leftoversGo(wanted: ReadonlySet<string>): Promise<void> {
    for (const protocol of PROTOCOLS) {
      let left: string[] = [];
      const isClean = async (): Promise<boolean> => {
        const files = await remotes[protocol].server.disk.files('/');
        left = files.filter((file) => file.startsWith('/round-') && !wanted.has(protocol + file));
        return left.length === 0;
      };
      await eventually(isClean, 'leftovers are removed').catch((error: unknown) => {
        throw new Error(`${protocol} still holds ${left.join(', ')}`, { cause: error });
      });
    }
  }
});

async function repeat(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      // The gateway died during it.
      if ((error as NodeJS.ErrnoException).code === 'ERR_ASSERTION') throw error;
      await delay(5);
    }
  }
}

async function itemsBelow(api: ApiClient, folder: string): Promise<HistoryItem[]> {
  const found: HistoryItem[] = [];
  for (let offset = 0; ; offset += 100) {
    const answer: ApiAnswer = await api.get('/api/transfers', { query: { limit: '100', offset: String(offset) } });
    const page = answer.json['transfers'] as HistoryItem[];
    found.push(...page.filter((item) => item.path.startsWith(folder)));
    // Newest first: after a page without an item of the round there are no more.
    if (page.length < 100 || found.length === 0 || !page.some((item) => item.path.startsWith(folder))) return found;
  }
}

async function digests(disk: Disk, folder: string, sent: readonly Sent[]): Promise<Map<string, string>> {
  const standing = new Set(await disk.files('/'));
  const found = new Map<string, string>();
  for (const { file } of sent) {
    if (file.startsWith(folder) && standing.has(file)) found.set(file, digestOf(await disk.read(file)));
  }
  return found;
}

const digestOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
