/** The load during an upgrade: files that arrive in watched folders, and clients of the API. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FileTransferGateway } from '../../src/client/index.js';
import { begin } from '../jobs/support.js';
import { type ApiAnswer, KEY } from '../support/gateway.js';
import type { WatchedFacts } from './checks.js';
import { BROKEN, good, SERVER, type System } from './system.js';

const FILE_EVERY_MS = 200;
const CHECK_EVERY_MS = 1_000;
const TRANSFER_EVERY_MS = 250;
const FAILURE_EVERY_MS = 1_500;
const JOB_EVERY_MS = 3_000;
const CLIENTS = 3;
const BYTES = [100, 70_000, 700_000] as const;
/** Names in use by one client: each is written again and again. */
const NAMES = 20;
const TREE_FILES = 5;
const JOB_RECEIVER = '/jobs';

interface Watched extends WatchedFacts {
  readonly id: string;
  readonly path: string;
  readonly put: string[];
}

/** The watched folders by their names, with their settings. */
const FOLDERS: Readonly<Record<string, object>> = {
  one: {},
  uploaded: {},
  marked: { doneFile: '{filename}.done' },
  copied: { copyTo: { connectionId: SERVER, path: '/copies' } },
  deleted: { afterDelivery: 'delete' },
};

export class Load {
  readonly folders: Watched[] = [];
  /** Receivers by the ids of jobs. */
  readonly jobs = new Map<string, string>();
  /** Ids of the requests to a server that does not exist. */
  readonly failedRequests: string[] = [];
  readonly followed: number[] = [];
  /** What clients should not get. */
  readonly failures: string[] = [];
  requests = 0;
  readonly #system: System;
  readonly #files: string;
  readonly #ending = new AbortController();
  readonly #following = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(system: System) {
    this.#system = system;
    this.#files = system.sshd.files;
    for (const folder of ['transfers', 'tree', ...Object.keys(FOLDERS)]) mkdirSync(join(this.#files, folder));
    for (let file = 0; file < TREE_FILES; file++) writeFileSync(join(this.#files, 'tree', `${file}.txt`), `${file}`);
  }

  async start(): Promise<void> {
    for (const [name, settings] of Object.entries(FOLDERS)) {
      const [path, receiver] = [`/${name}`, `/folder/${name}`];
      const wanted = { connectionId: SERVER, path, webhookUrl: this.#system.urlOf(receiver), initial: 'report' };
      const { json } = good(await this.#system.api.post('/api/watched-folders', { ...wanted, ...settings }), 201);
      this.folders.push({ id: String(json['id']), path, receiver, put: [], isInOrder: !('copyTo' in settings) });
    }
    void this.#follow();
    this.#running = Promise.all([
      this.#repeat(FILE_EVERY_MS, (number) => this.#putFile(number)),
      this.#repeat(CHECK_EVERY_MS, (number) => this.#check(this.#folder(number))),
      ...Array.from({ length: CLIENTS }, (_, client) =>
        this.#repeat(TRANSFER_EVERY_MS, (number) => this.#transfer(`${client}-${number % NAMES}.bin`, number)),
      ),
      this.#repeat(FAILURE_EVERY_MS, () => this.#fail()),
      this.#repeat(JOB_EVERY_MS, (number) => this.#beginJob(number)),
    ]);
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  /** Checks all folders once more: for files that were too young. */
  async checkAll(): Promise<void> {
    for (const folder of this.folders) await this.#counted(() => this.#check(folder));
  }

  stopFollowing(): void {
    this.#following.abort(new Error('the end'));
  }

  /** Copies that are missing on the server's disk, and files that should be gone. */
  wrongFiles(): string[] {
    const namesIn = (folder: string): string[] => readdirSync(join(this.#files, folder));
    const copies = new Set(namesIn('copies'));
    const files = this.folders.find(({ path }) => path === '/copied')?.put ?? [];
    return [
      ...files.filter((path) => !copies.has(nameOf(path))).map((path) => `${path} was not copied`),
      ...namesIn('deleted').map((name) => `/deleted/${name} was not deleted`),
    ];
  }

  #folder(number: number): Watched {
    return this.folders[number % this.folders.length] ?? assert.fail('no folder is watched');
  }

  /** Lets at least this time pass between two beginnings, and waits for the work. */
  async #repeat(everyMs: number, work: (number: number) => Promise<void>): Promise<void> {
    const { signal } = this.#ending;
    for (let number = 0; !signal.aborted; number++) {
      const pause = delay(everyMs, undefined, { signal }).catch(() => undefined);
      await Promise.all([this.#counted(() => work(number)), pause]);
    }
  }

  async #counted(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.failures.push(`${new Date().toISOString()} ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  #upload(connection: string, path: string, body: Buffer, headers = {}): Promise<ApiAnswer> {
    this.requests++;
    const cut = path.lastIndexOf('/');
    return this.#system.api.send(`/api/upload/${connection}`, {
      method: 'POST',
      query: { path: path.slice(0, cut) || '/', filename: path.slice(cut + 1) },
      headers: { 'Content-Type': 'application/octet-stream', ...headers },
      body,
    });
  }

  async #putFile(number: number): Promise<void> {
    const { path, put } = this.#folder(number);
    const file = `${path}/${String(number).padStart(6, '0')}.txt`;
    const place = join(this.#files, file);
    if (path === '/uploaded') good(await this.#upload(SERVER, file, Buffer.from(file)));
    else {
      writeFileSync(`${place}.part`, file);
      renameSync(`${place}.part`, place);
    }
    if (path === '/marked') writeFileSync(`${place}.done`, '');
    put.push(file);
  }

  async #check({ id }: Watched): Promise<void> {
    this.requests++;
    good(await this.#system.api.post(`/manage/watched-folders/${id}/check`, undefined), 202);
  }

  async #transfer(name: string, number: number): Promise<void> {
    const path = `/transfers/${name}`;
    const body = randomBytes(BYTES[number % BYTES.length] ?? 0);
    good(await this.#upload(SERVER, path, body));
    this.requests++;
    const { bytes } = good(await this.#system.api.get(`/api/download/${SERVER}`, { query: { path } }));
    if (!bytes.equals(body)) throw new Error(`${path} came back as another file`);
  }

  async #fail(): Promise<void> {
    const id = randomUUID();
    good(await this.#upload(BROKEN, '/any', Buffer.from('x'), { 'X-Request-Id': id }), 502);
    this.failedRequests.push(id);
  }

  async #beginJob(number: number): Promise<void> {
    this.requests++;
    const { id } = await begin(this.#system.api, {
      type: 'copy',
      source: { connectionId: SERVER, path: '/tree' },
      destination: { connectionId: SERVER, path: `/jobs/${number % NAMES}` },
      webhookUrl: this.#system.urlOf(JOB_RECEIVER),
    });
    this.jobs.set(id, JOB_RECEIVER);
  }

  /** As a consumer of the feed: it continues at another node when its node ends. */
  async #follow(): Promise<void> {
    const { signal } = this.#following;
    const client = new FileTransferGateway({ baseUrl: `http://127.0.0.1:${this.#system.balancer.port}`, apiKey: KEY });
    try {
      for await (const { sequence } of client.events({ after: 0, signal })) this.followed.push(sequence);
    } catch (error) {
      if (!signal.aborted) this.failures.push(`${new Date().toISOString()} follower: ${String(error)}`);
    }
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
