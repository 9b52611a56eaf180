/** A protocol unknown to the gateway: a folder of files in memory, by the name of its host. */
import type { Connection } from '../../../src/connections/connection.js';
import type { Session } from '../../../src/pools/session.js';
import type { AnyProtocol } from '../../../src/remotes/protocol.js';
import { MemoryRemote } from './remote.js';
import type { MemoryTree } from './tree.js';

/** The gateway passes its settings on unchanged. */
export type MemoryConnection = Pick<
  Connection,
  'id' | 'accountId' | 'name' | 'isActive' | 'defaultPath' | 'rootPath' | 'atomicUploads' | 'pool'
> & { readonly type: 'memory'; readonly host: string };

export function createMemory(trees: ReadonlyMap<string, MemoryTree>): AnyProtocol {
  const own = (connection: unknown): MemoryConnection => connection as MemoryConnection;
  return {
    type: 'memory',
    host: (connection) => `${own(connection).host}:0`,
    place: (_connection, path) => path,
    identity: () => [],
    leasesPerSession: () => 1,
    openSession: async (connection) => new MemorySession(trees.get(own(connection).host)),
    openRemote: (tree, connection, _limits, context) => new MemoryRemote(tree as MemoryTree, own(connection), context),
  };
}

class MemorySession implements Session<MemoryTree> {
  readonly #tree: MemoryTree | undefined;
  readonly capacity = 1;
  alive = true;
  #onClose: () => void = () => undefined;

  constructor(tree: MemoryTree | undefined) {
    this.#tree = tree;
  }

  async lease(): Promise<MemoryTree> {
    if (this.#tree === undefined) throw new Error('there is no such tree');
    return this.#tree;
  }

  release(): void {}

  async check(): Promise<void> {}

  close(): void {
    if (!this.alive) return;
    this.alive = false;
    this.#onClose();
  }

  onClose(listener: () => void): void {
    this.#onClose = listener;
  }
}
