/**
 * A server that does not rename onto a file has the former one renamed aside for a moment. The gateway is killed, or the
 * server is away, in that moment: afterwards the former file has its name again.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { type ScriptedFtp, startScripted } from '../servers/scripted-ftp.js';
import { eventually } from '../support/eventually.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';

/** A node counts as dead some 20 s after its last sign of life, and the sweep comes every 30 s. */
const SWEPT_MS = 180_000;
const OLD = Buffer.from('the former file');

interface Rig {
  readonly server: ScriptedFtp;
  start(): Promise<TestGateway>;
  /** Resolves in the moment when the former file is aside; the new one does not take its place. */
  readonly aside: Promise<void>;
  /** From now on the server works again. */
  repair(): void;
}

async function rig(t: TestContext, isAway: boolean): Promise<Rig> {
  let isBroken = true;
  let reached = (): void => undefined;
  const aside = new Promise<void>((resolve) => (reached = resolve));
  const server = await startScripted({
    USER: (_name, { say, socket }) =>
      isAway && isBroken && server.files.size > 1 ? void socket.destroy() : say('331 ?'),
    RNTO: async (to, { say, socket, usual }) => {
      if (to !== '/a.bin' || !server.files.has(to)) {
        // The new file, while the former one is aside.
        if (to !== '/a.bin' || !isBroken) return usual();
        reached();
        return isAway ? void socket.destroy() : undefined;
      }
      return say('553 File exists.');
    },
  });
  t.after(() => server.stop());
  server.files.set('/a.bin', OLD);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'ftg-aside-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const { port, username, password } = server;
  const connection = { id: 'c1', name: 'Files', type: 'ftp', host: '127.0.0.1', port, username, password };
  const start = (): Promise<TestGateway> => startGateway({ dataDir, connections: [connection] });
  return { server, start, aside, repair: () => (isBroken = false) };
}

const replace = (gateway: TestGateway) =>
  gateway.api.send('/api/upload/c1', {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    query: { path: '/', filename: 'a.bin' },
    body: 'the new file',
  });

const isBack = ({ server }: Rig): boolean =>
  server.files.get('/a.bin')?.equals(OLD) === true && [...server.files.keys()].every((name) => !name.includes('.ftg-'));

test('the gateway is killed', async (t) => {
  const it = await rig(t, false);
  const first = await it.start();
  const answer = replace(first).catch((error: unknown) => error);
  await it.aside;
  assert.equal(it.server.files.has('/a.bin'), false);
  await first.kill();
  await answer;
  it.repair();
  const second = await it.start();
  t.after(() => second.stop());
  await eventually(() => isBack(it), 'the former file has its name', SWEPT_MS);
  held({
    area: 'Faults',
    what: 'the gateway is killed while a file that is replaced is aside, on a server that does not rename onto a file',
    done: 'killed (SIGKILL) between the two renames, and started again',
    held: 'the former file has its name again, nothing is left',
    tries: 1,
  });
});

test('the server is away', async (t) => {
  const it = await rig(t, true);
  const gateway = await it.start();
  t.after(() => gateway.stop());
  const { status, text } = await replace(gateway);
  assert.equal(status, 502, text);
  assert.match(text, /could not be moved back: it is \/\.a\.bin\.ftg-old-\w+ now, until the gateway can do so/);
  assert.equal(it.server.files.has('/a.bin'), false);
  it.repair();
  await eventually(() => isBack(it), 'the former file has its name', SWEPT_MS);
  held({
    area: 'Faults',
    what: 'the server is away while a file that is replaced is aside, on a server that does not rename onto a file',
    done: 'the line cut between the two renames, and no login admitted for a while',
    held: 'the former file has its name again once the server is back, nothing is left',
    tries: 1,
  });
});
