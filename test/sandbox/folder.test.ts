/** The service behind the sandbox, asked for things in an order that no line brings about at will. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { SFTPWrapper } from 'ssh2';
import { FolderService } from '../../src/sandbox/folder.js';

test('a folder that is closed while it is read several times over: each is answered, and nothing is thrown later', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ftg-folder-'));
  try {
    writeFileSync(join(folder, 'one'), '');
    const service = await FolderService.at(folder);
    for (const reads of [2, 3, 4, 8]) {
      const answers = new EventEmitter();
      const tell = (id: number, answer: unknown): void => void answers.emit(String(id), answer);
      const sftp = Object.assign(new EventEmitter(), { handle: tell, status: tell, name: tell });
      service.serve(sftp as unknown as SFTPWrapper);
      const ask = (id: number, ...request: readonly unknown[]): Promise<unknown> =>
        new Promise((resolve) => {
          answers.once(String(id), resolve);
          sftp.emit(String(request[0]), id, ...request.slice(1));
        });
      const handle = await ask(0, 'OPENDIR', '/');
      const asked = Array.from({ length: reads }, (_, index) => ask(index + 1, 'READDIR', handle));
      const all = await Promise.all([...asked, ask(reads + 1, 'CLOSE', handle)]);
      assert.equal(all.at(-1), 0, 'it is closed');
      await turn();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
