/**
 * Memory of a busy time is returned. A defect found this way: free chunks lay between small pieces that were in use, so
 * that the C library kept them; after thousands of transfers and clients that left, memory was 50 to 100 MiB above its
 * former size, with a heap as small as ever, and kept growing.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSshd } from '../servers/sshd.js';
import { memoryOf, startGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const PIECES = 400;
const AT_ONCE = 24;
const SIZES = [KIB, 64 * KIB, 512 * KIB, 6 * MIB] as const;
/** Compiled code, idle sessions, and buffers that the collector has not visited. */
const MORE_THAN_BEFORE = 40 * MIB;
/** It is done every ten seconds. */
const WITHIN_MS = 60_000;

test('after hundreds of transfers, and clients that leave, memory returns to its former size', async (t) => {
  const sshd = await startSshd(['MaxStartups 300']);
  const { username, clientKeyFile: privateKeyFile, files } = sshd;
  const login = { type: 'sftp', host: '127.0.0.1', port: sshd.port, username, privateKeyFile };
  const gateway = await startGateway({ connections: [{ id: 'c1', name: 'SSH', defaultPath: files, ...login }] });
  try {
    const { api, pid } = gateway;
    const before = memoryOf(pid).now;
    const put = (index: number, length: number): Parameters<typeof api.leave> => [
      '/api/upload/c1',
      {
        method: 'POST',
        query: { filename: `piece-${index % 40}` },
        headers: { 'Content-Type': 'application/octet-stream', 'Content-Length': String(length) },
        body: Buffer.alloc(SIZES[index % SIZES.length] ?? KIB, index),
      },
    ];
    const piece = async (index: number): Promise<void> => {
      const size = SIZES[index % SIZES.length] ?? KIB;
      if (index % 5 === 0) return api.leave(...put(index, size * 2));
      const { status, text } = await api.send(...put(index, size));
      assert.equal(status, 200, text);
      await api.get('/api/download/c1', { query: { path: `${files}/piece-${index % 40}` } });
    };
    let next = 0;
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (next < PIECES) await piece(next++);
      }),
    );
    t.diagnostic(`${before / MIB} MiB before, ${memoryOf(pid).peak / MIB} at most`);
    assert.ok(memoryOf(pid).peak > before + MORE_THAN_BEFORE, 'the load is enough to see it');
    await eventually(() => memoryOf(pid).now < before + MORE_THAN_BEFORE, 'memory is given back', WITHIN_MS);
  } finally {
    await gateway.stop();
    await sshd.stop();
  }
});
