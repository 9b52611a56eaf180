/** One watched folder on an SFTP server: database, server, receiver, and the folders to watch. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Delivery } from '../../../src/contract/delivery.js';
import type { FolderSettings } from '../../../src/watch/settings.js';
import { startSshd, type TestSshd } from '../../servers/sshd.js';
import { startPostgres, type PostgresServer } from '../../servers/postgres.js';
import { Bench, type BenchOptions } from './bench.js';
import { startReceiver, type Receiver } from './receiver.js';
import { startTogether } from '../../support/together.js';
import type { WatchedFolder } from '../../../src/contract/watched-folder.js';

export interface Watched {
  readonly folder: WatchedFolder;
  /** On the disk of the server. */
  readonly place: string;
  /** Writes a file; its content is its name by default. */
  readonly put: (name: string, content?: string) => void;
  /** A check's reasons by path. */
  readonly look: () => Promise<Record<string, string>>;
}

export class WatchRig {
  #folders = 0;

  private constructor(
    readonly postgres: PostgresServer,
    readonly ssh: TestSshd,
    readonly receiver: Receiver,
    readonly bench: Bench,
  ) {}

  static async open(
    settings: Pick<BenchOptions, 'watcher' | 'webhooks' | 'network' | 'maxReports'>,
  ): Promise<WatchRig> {
    const [postgres, ssh, receiver] = await startTogether([startPostgres(), startSshd(), startReceiver()]);
    const { port, username, clientKeyFile, files } = ssh;
    const connection = {
      id: 'ssh',
      name: 'SSH',
      type: 'sftp',
      host: '127.0.0.1',
      port,
      username,
      privateKeyFile: clientKeyFile,
      rootPath: files,
    };
    const bench = await Bench.open({ databaseUrl: postgres.url, connections: [connection], ...settings });
    return new WatchRig(postgres, ssh, receiver, bench);
  }

  async close(): Promise<void> {
    await this.bench.close();
    await Promise.all([this.receiver.close(), this.ssh.stop()]);
    await this.postgres.stop();
  }

  /** A new folder with `files` in it, and a baseline. */
  async watched(input: FolderSettings = {}, files: readonly string[] = []): Promise<Watched> {
    const name = `f${++this.#folders}`;
    const place = join(this.ssh.files, name);
    mkdirSync(place);
    const put = (file: string, content = file): void => writeFileSync(join(place, file), content);
    for (const file of files) put(file);
    const folder = await this.bench.watch('ssh', `/${name}`, input);
    const look = async () => this.bench.reasonsOf(folder, await this.bench.check(folder));
    return { folder, place, put, look };
  }

  /** The folder's events, newest first. */
  eventsOf({ id }: WatchedFolder): Promise<readonly Delivery[]> {
    return this.bench.events.deliveries.list(this.bench.accountId, { watchedFolderId: id }, { limit: 100, offset: 0 });
  }
}
