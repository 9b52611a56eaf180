/**
 * Deleting whole folders: the calls of a remote, their order, and how it stops. Real servers:
 * conformance/tree-rules.ts.
 */
import assert from 'node:assert/strict';
import { chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { GatewayError, hasCode, type ErrorCode } from '../../../src/base/errors.js';
import { deleteTree } from '../../../src/operations/tree/delete.js';
import { isAFolder, notEmpty, notFound } from '../../../src/remotes/obstacles.js';
import { joinPath, parentOf, parseRemotePath, ROOT, type RemotePath } from '../../../src/remotes/path.js';
import type { FileInfo, Remote } from '../../../src/remotes/remote.js';
import { startProftpd, startPureFtpd, startVsftpd, type FtpServer } from '../../servers/ftp.js';
import { startSshd } from '../../servers/sshd.js';
import { connectionOf, openSeam } from '../../support/seam.js';

const at = (path: string): RemotePath => parseRemotePath(path, ROOT, 'path');
const NEVER = new AbortController().signal;

/** A tree by its paths; true: a folder. It checks how many calls are under way. */
class ModelRemote {
  readonly #callsAtOnce: number;
  readonly entries = new Map<string, boolean>();
  readonly lists = new Map<string, number>();
  mostAtOnce = 0;
  /** Called before each removal. */
  meddle: (path: RemotePath) => void = () => undefined;
  #underWay = 0;
  #listing = 0;

  constructor(callsAtOnce: number, paths: readonly string[]) {
    this.#callsAtOnce = callsAtOnce;

    for (const path of paths) this.add(path);
  }

  get can(): { callsAtOnce: number } {
    return { callsAtOnce: this.#callsAtOnce };
  }

  add(path: string): void {
    this.entries.set(path.replace(/\/$/, ''), path.endsWith('/'));
    for (let folder = parentOf(at(path)); folder !== ROOT; folder = parentOf(folder)) this.entries.set(folder, true);
  }

  async *list(folder: RemotePath): AsyncGenerator<readonly FileInfo[]> {
    if (this.entries.get(folder) !== true) throw notFound(folder);
    this.lists.set(folder, (this.lists.get(folder) ?? 0) + 1);
    this.#listing += 1;
    try {
      const names = [...this.entries.keys()].filter((path) => parentOf(path as RemotePath) === folder);
      for (const [index, path] of names.entries()) {
        if (index % 100 === 0) await new Promise(setImmediate);
        const name = path.slice(folder.length + 1);
        yield [{ name, path: joinPath(folder, name), size: 0, isDirectory: false, modifiedAt: new Date(0) }];
      }
    } finally {
      this.#listing -= 1;
    }
  }

  remove(path: RemotePath): Promise<void> {
    return this.#alone(async () => {
      this.meddle(path);
      const isFolder = this.entries.get(path);
      if (isFolder === undefined) throw notFound(path);
      if (isFolder) throw isAFolder(path);
      this.entries.delete(path);
    });
  }

  removeFolder(path: RemotePath): Promise<void> {
    return this.#alone(async () => {
      if (!this.entries.has(path)) throw notFound(path);
      for (const other of this.entries.keys()) if (other.startsWith(`${path}/`)) throw notEmpty(path);
      this.entries.delete(path);
    });
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    assert.ok(this.#callsAtOnce > 1 || this.#listing === 0, 'no call while a listing is read');
    this.#underWay += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#underWay);
    await new Promise(setImmediate);
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
    }
  }

  get isIdle(): boolean {
    return this.#underWay === 0;
  }
}

const seam = (model: ModelRemote): Remote => model as unknown as Remote;
const TREE = ['/t/a', '/t/b/c', '/t/b/d/e', '/t/b/d/f', '/t/empty/', '/t/x/y/z/', '/beside'];

const refused =
  (code: ErrorCode, text: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(hasCode(error, code), String(error));
    assert.match(error.message, text);
    return true;
  };

for (const callsAtOnce of [1, 4]) {
  describe(`${callsAtOnce} calls at once`, () => {
    test('everything below a folder is removed, and nothing else', async () => {
      const model = new ModelRemote(callsAtOnce, TREE);
      let reported = 0;
      const deleted = await deleteTree(seam(model), at('/t'), {
        signal: NEVER,
        onDeleted: (total) => (reported = total),
      });
      assert.deepEqual([...model.entries.keys()], ['/beside']);
      assert.deepEqual([deleted, reported], [11, 11]);
      assert.ok(model.mostAtOnce <= callsAtOnce);
    });

    test('a folder of very many names is listed in rounds, each with what is left', async () => {
      const many = Array.from({ length: 60_000 }, (_, index) => `/t/many/${index}`);
      const model = new ModelRemote(callsAtOnce, [...many, '/t/other']);
      await deleteTree(seam(model), at('/t'), { signal: NEVER });
      assert.equal(model.entries.size, 0);
      // Half of the total limit, minus the names of the folder above.
      assert.equal(model.lists.get('/t/many'), 3);
      assert.equal(model.mostAtOnce, callsAtOnce);
    });

    test('entries that another client adds meanwhile are removed too, and an endless supply is an error', async () => {
      const model = new ModelRemote(callsAtOnce, ['/t/a']);
      let added = 0;
      model.meddle = () => (added < 3 ? model.add(`/t/added-${added++}`) : undefined);
      assert.equal(await deleteTree(seam(model), at('/t'), { signal: NEVER }), 5);
      const endless = new ModelRemote(callsAtOnce, ['/t/a']);
      endless.meddle = () => endless.add(`/t/added-${added++}`);
      await assert.rejects(
        deleteTree(seam(endless), at('/t'), { signal: NEVER }),
        refused('not_empty', /\/t is not empty/),
      );
    });

    test('entries that another client removes meanwhile are no error', async () => {
      const model = new ModelRemote(callsAtOnce, TREE);
      model.meddle = (path) =>
        void (path === '/t/b' ? [...model.entries.keys()].forEach((one) => model.entries.delete(one)) : 0);
      await deleteTree(seam(model), at('/t'), { signal: NEVER });
      assert.equal(model.entries.size, 0);
    });

    test('a failure names the path and what was deleted before, and nothing is under way then', async () => {
      const model = new ModelRemote(
        callsAtOnce,
        Array.from({ length: 40 }, (_, index) => `/t/s/${index}`),
      );
      model.meddle = (path) => {
        if (path === '/t/s/20') throw new GatewayError('permission_denied', 'not yours', { step: 'publish' });
      };
      const reported = /^\/t\/s\/20: not yours; \d+ entries of \/t had been deleted before$/;
      await assert.rejects(
        deleteTree(seam(model), at('/t'), { signal: NEVER }),
        refused('permission_denied', reported),
      );
      assert.ok(model.isIdle);
      assert.ok(model.entries.size >= 16, String(model.entries.size));
    });

    test('the end of the operation stops it', async () => {
      const model = new ModelRemote(
        callsAtOnce,
        Array.from({ length: 100 }, (_, index) => `/t/${index}`),
      );
      const ender = new AbortController();
      model.meddle = (path) => {
        if (path === '/t/30') ender.abort(new GatewayError('client_gone', 'the client left'));
      };
      const { signal } = ender;
      await assert.rejects(
        deleteTree(seam(model), at('/t'), { signal }),
        refused('client_gone', /the client left; \d+ entries/),
      );
      assert.ok(model.isIdle);
      assert.ok(model.entries.size > 60, String(model.entries.size));
    });
  });
}

test('the root is kept', async () => {
  const model = new ModelRemote(4, TREE);
  await assert.rejects(deleteTree(seam(model), ROOT, { signal: NEVER }), refused('bad_path', /root/));
});

describe('names that are not UTF-8, on real servers', { concurrency: 2 }, () => {
  const servers = {
    OpenSSH: async () => {
      const server = await startSshd();
      const { port, username, clientKeyFile, files: folder } = server;
      const login = {
        type: 'sftp',
        host: '127.0.0.1',
        port,
        username,
        privateKeyFile: clientKeyFile,
        rootPath: folder,
      };
      return { login, folder, stop: () => server.stop() };
    },
    vsftpd: async () => ftp(await startVsftpd()),
    'pure-ftpd': async () => ftp(await startPureFtpd()),
    proftpd: async () => ftp(await startProftpd()),
  };
  const ftp = (server: FtpServer) => {
    const { port, username, password, folder } = server;
    const login = { type: 'ftp', host: '127.0.0.1', port, username, password, tls: 'none' };
    return { login, folder, stop: () => server.stop() };
  };
  for (const [name, start] of Object.entries(servers)) {
    test(`${name}: files, folders and links of such names`, async (t) => {
      const server = await start();
      t.after(() => server.stop());
      const raw = (path: string): Buffer => Buffer.concat([Buffer.from(server.folder), Buffer.from(path, 'latin1')]);
      for (const folder of ['/kept', '/t', '/t/caf\xe9', '/t/caf\xe9/\xff']) mkdirSync(raw(folder));
      for (const file of ['/kept/f', '/t/\xe4', '/t/caf\xe9/plain', '/t/caf\xe9/\xff/\xfe'])
        writeFileSync(raw(file), '');
      symlinkSync('../kept', raw('/t/li\xf1k'));
      const { uid, gid } = statSync(server.folder);
      for (const path of ['/t', '/t/caf\xe9', '/t/caf\xe9/\xff']) chownSync(raw(path), uid, gid);
      const client = openSeam(connectionOf(server.login));
      t.after(() => client.close());
      const deleted = await client.use((remote) => deleteTree(remote, at('/t'), { signal: NEVER }));
      assert.equal(deleted, 7);
      assert.deepEqual([readdirSync(server.folder), readdirSync(raw('/kept'))], [['kept'], ['f']]);
    });
  }
});
