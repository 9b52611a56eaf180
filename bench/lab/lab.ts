/** What a case works with: servers started on demand, files, folders; everything is ended afterwards. */
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { copyFile, mkdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { startNaiveGateway, startWebdav, type HttpRival } from '../rivals/http-gateways.js';
import { curlLogin, curlUrl } from '../rivals/command-line.js';
import { expectSame, randomFile } from './files.js';
import { startGateway, type GatewayOptions, type GatewayUnderTest, type Request } from './gateway.js';
import { fetchTo, send } from './http-client.js';
import { runCommand, type Service } from './process.js';
import type { ProfileFile } from '../report/profile.js';
import { startLabPostgres, type LabDatabase, type LabPostgres } from './database.js';
import { startFarAway, startFtp, startLargeStore, startSftp, startSink, startStore, type Running } from './servers.js';
import type { Protocol, S3Target, Target } from './target.js';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.js';

export const MIB = 1024 * 1024;
const STORED_AT_ONCE = 1000;

export interface LabOptions {
  readonly profileFolder: string | undefined;
}

export class Lab {
  readonly #options: LabOptions;
  readonly scratch: string;
  /** For the gateways started so far; each is written when its gateway stops. */
  readonly profiles: ProfileFile[] = [];
  readonly #targets = new Map<string, Promise<Target>>();
  readonly #ends: (() => Promise<void>)[] = [];
  #passivePorts: readonly number[] = [];
  #postgres: Promise<LabPostgres> | undefined;

  constructor(options: LabOptions) {
    this.#options = options;

    this.scratch = mkdtempSync('/dev/shm/ftg-bench-');
    chmodSync(this.scratch, 0o755);
    // Servers and clients that choose their own place for files also use memory: the disk is not measured.
    process.env['TMPDIR'] = this.scratch;
  }

  target(protocol: Protocol): Promise<Target> {
    return this.#once(protocol, async () => {
      if (protocol === 'sftp') return this.#keep(await startSftp(this.scratch));
      if (protocol === 's3') return this.#keep(await startStore());
      const { target, passivePorts } = this.#keep(await startFtp());
      this.#passivePorts = passivePorts;
      return target;
    });
  }

  /** A store whose folders have any number of objects (large-store.ts). */
  largeStore(): Promise<Target> {
    return this.#once('large store', async () => this.#keep(await startLargeStore()));
  }

  /** A store that throws all bytes away (s3-sink.ts). */
  async sink(): Promise<S3Target> {
    return this.#keep(await startSink());
  }

  /** The same server, with a round trip of this length in front of it. */
  farTarget(protocol: Protocol, roundTripMs: number, windowBytes: number): Promise<Target> {
    return this.#once(`${protocol} ${roundTripMs} ${windowBytes}`, async () => {
      const near = await this.target(protocol);
      const ports = protocol === 'ftp' ? this.#passivePorts : [];
      return this.#keep(await startFarAway(near, roundTripMs, ports, windowBytes));
    });
  }

  async gateway(options: Omit<GatewayOptions, 'profileFolder'>): Promise<GatewayUnderTest> {
    const gateway = await this.ending(startGateway({ ...options, profileFolder: this.#options.profileFolder }));
    if (gateway.profile !== undefined) this.profiles.push(gateway.profile);
    return gateway;
  }

  webdav(target: Target): Promise<HttpRival> {
    return this.ending(startWebdav(target));
  }

  naiveGateway(target: Target): Promise<HttpRival> {
    return this.ending(startNaiveGateway(target));
  }

  receiver(): Promise<WebhookReceiver> {
    return this.ending(startWebhookReceiver());
  }

  /** What is being started ends with the lab. */
  async ending<S extends Pick<Service, 'stop'>>(starting: Promise<S>): Promise<S> {
    const started = await starting;
    this.#ends.push(() => started.stop());
    return started;
  }

  /** An empty database for gateways that share it. All of them are on one server, which works only for this case. */
  async database(): Promise<LabDatabase> {
    this.#postgres ??= startLabPostgres().then((server) => this.#keep({ value: server, stop: () => server.stop() }));
    return (await this.#postgres).create();
  }

  source(bytes: number): Promise<string> {
    return randomFile(this.scratch, bytes);
  }

  /** A new path for a file that a client downloads. */
  async destination(name: string): Promise<string> {
    const folder = join(this.scratch, 'downloads');
    await mkdir(folder, { recursive: true });
    return join(folder, name);
  }

  /** @throws if `name` on the target is not byte for byte the file `source` */
  async expectStored(target: Target, name: string, source: string): Promise<void> {
    if (target.protocol !== 's3') return expectSame(join(target.folder, name), source);
    const copy = await this.destination(`check-${name}`);
    await this.#s3(target, name, '-o', copy);
    await expectSame(copy, source);
    await unlink(copy);
  }

  async removeStored(target: Target, name: string): Promise<void> {
    if (target.protocol === 's3') await this.#s3(target, name, '-X', 'DELETE');
    else await unlink(join(target.folder, name));
  }

  /** Stores a file on the target directly, without its protocol. */
  async store(target: Target, name: string, source: string): Promise<void> {
    if (target.protocol === 's3') await this.#s3(target, name, '-T', source);
    else await copyFile(source, join(target.folder, name));
  }

  /** Makes empty files in a folder, named by `name`; faster than one by one. */
  async storeMany(target: Target, folder: string, count: number, name: (index: number) => string): Promise<void> {
    if (target.protocol === 's3') throw new Error('very many files are for servers with folders');
    const place = join(target.folder, folder);
    await mkdir(place, { recursive: true });
    for (let index = 0; index < count; index += 1) {
      closeSync(openSync(join(place, name(index)), 'w'));
      // The client must notice when servers close kept connections.
      if (index % STORED_AT_ONCE === 0) await setImmediate();
    }
  }

  /** Makes a short file in a folder of the target, which is made if it is missing. */
  async storeIn(target: Target, folder: string, name: string): Promise<void> {
    if (target.protocol === 's3') return this.#s3(target, `${folder}/${name}`, '-T', await this.source(1));
    const place = join(target.folder, folder);
    await mkdir(place, { recursive: true });
    await writeFile(join(place, name), 'x');
  }

  /** @throws if the two files differ */
  async expectSame(actual: string, expected: string): Promise<void> {
    await expectSame(actual, expected);
  }

  /**
   * Moves a first small file, so that memory which a service keeps permanently is there before its memory at rest is
   * read.
   */
  async warmUp(front: { upload(name: string): Request; download(name: string): Request }): Promise<void> {
    const source = await this.source(MIB);
    const copy = await this.destination('warm-up');
    for (let times = 0; times < 3; times += 1) {
      await send(front.upload('warm-up'), source);
      await fetchTo(front.download('warm-up'), copy);
    }
    await unlink(copy);
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) {
      await end().catch((error: unknown) => console.error('a part of the bench did not stop:', error));
    }
    rmSync(this.scratch, { recursive: true, force: true });
  }

  async #s3(target: Target, name: string, ...args: string[]): Promise<void> {
    await runCommand('curl', ['-sS', '--fail', ...curlLogin(target), ...args, curlUrl(target, name)]);
  }

  #once(name: string, start: () => Promise<Target>): Promise<Target> {
    const known = this.#targets.get(name);
    if (known !== undefined) return known;
    const started = start();
    this.#targets.set(name, started);
    return started;
  }

  #keep<T>({ value, stop }: Running<T>): T {
    this.#ends.push(stop);
    return value;
  }
}
