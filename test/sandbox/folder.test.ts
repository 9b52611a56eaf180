/** The service of the sandbox, with requests in an order that no connection can be made to produce. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import ssh2, { type SFTPWrapper } from 'ssh2';
import { serveChannel } from '../../src/sandbox/channel.js';
import { Folder } from '../../src/sandbox/folder.js';
import { eventually } from '../support/eventually.js';

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;

interface Channel {
  readonly sftp: EventEmitter;
  /** Resolves with the answer, of any kind. */
  readonly ask: (request: string, ...operands: readonly unknown[]) => Promise<unknown>;
}

function open(service: Folder): Channel {
  const answers = new EventEmitter();
  const tell = (id: number, answer: unknown): void => void answers.emit(String(id), answer);
  const sftp = Object.assign(new EventEmitter(), { handle: tell, status: tell, name: tell });
  serveChannel(sftp as unknown as SFTPWrapper, service);
  let asked = 0;
  return {
    sftp,
    ask: (request, ...operands) =>
      new Promise((resolve) => {
        const id = asked++;
        answers.once(String(id), resolve);
        sftp.emit(request, id, ...operands);
      }),
  };
}

async function withFolder(use: (folder: string, service: Folder) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ftg-folder-'));
  try {
    writeFileSync(join(folder, 'one'), '');
    await use(folder, await Folder.at(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('a folder that is closed during several reads: each is answered, and nothing is thrown later', () =>
  withFolder(async (_folder, service) => {
    for (const reads of [2, 3, 4, 8]) {
      const { ask } = open(service);
      const handle = await ask('OPENDIR', '/');
      const asked = Array.from({ length: reads }, () => ask('READDIR', handle));
      const all = await Promise.all([...asked, ask('CLOSE', handle)]);
      assert.equal(all.at(-1), STATUS_CODE.OK);
      await turn();
    }
  }));

test('a file still being opened when its client has left is closed', () =>
  withFolder(async (folder, service) => {
    const held = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
        } catch {
          return false;
        }
      }).length;
    const openFile = ({ ask }: Channel): Promise<unknown> => ask('OPEN', '/one', OPEN_MODE.READ, {});
    const [gone, present] = [open(service), open(service)];
    for (let count = 0; count < 20; count++) void openFile(gone);
    gone.sftp.emit('close');
    // Later requests are executed later: by then all of those are open.
    const handles = await Promise.all(Array.from({ length: 20 }, () => openFile(present)));
    for (const handle of handles) await present.ask('CLOSE', handle);
    await eventually(() => held() === 0, 'all of them are closed');
  }));
