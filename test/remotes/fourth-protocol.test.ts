/** A new protocol is a folder (here test/remotes/memory) and one line: this one is `protocols: [...]` below. */
import { Readable } from 'node:stream';
import type { Connection } from '../../src/connections/connection.js';
import { parseRemotePath, ROOT } from '../../src/remotes/path.js';
import { remoteSuite } from '../remote-suite.js';
import type { Disk } from '../servers/catalogue.js';
import { createMemory } from './memory/protocol.js';
import { MemoryTree } from './memory/tree.js';

remoteSuite('a fourth protocol, over memory', async () => {
  const tree = new MemoryTree();
  const disk: Disk = {
    read: async (file) => tree.files.get(file)?.content ?? Promise.reject(new Error(`${file} is not there`)),
    stream: async (file) => Readable.from([await disk.read(file)]),
    write: async (file, content) =>
      void tree.write(parseRemotePath(file, ROOT, 'file'), Buffer.from(content as Buffer)),
    modifiedAt: async (file) => tree.files.get(file)?.modifiedAt ?? Promise.reject(new Error(`${file} is not there`)),
    version: async (file) => String(tree.files.get(file)?.modifiedAt.getTime()),
    files: async (folder) => [...tree.files.keys()].filter((file) => file.startsWith(`${folder}/`)).sort(),
  };
  const connection = {
    type: 'memory',
    host: 'here',
    id: 'm1',
    accountId: 'a1',
    name: 'Memory',
    isActive: true,
    pool: {},
    defaultPath: undefined,
    rootPath: '/',
    atomicUploads: true,
  };
  return {
    connection: connection as unknown as Connection,
    disk,
    deviations: {},
    options: { protocols: [() => createMemory(new Map([['here', tree]]))] },
    hasNoWire: true,
    stop: async () => undefined,
  };
});
