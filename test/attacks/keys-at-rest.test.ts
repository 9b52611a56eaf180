/** Secrets in the database: what a thief of its files, of a dump, or of a former master key would have. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startScripted, type ScriptedFtp } from '../servers/scripted-ftp.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { eventually } from '../support/eventually.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { held } from '../support/reliability.js';
import { startTogether } from '../support/together.js';
import { MAIN } from '../support/start-args.js';

const [FORMER, NEXT] = ['ab'.repeat(32), 'cd'.repeat(32)];
const PLANTED = 'planted pass word of the remote';
const API_KEY = 'ftg_planted-key-at-rest-0123456789';
const OWNER_PASSWORD = 'planted owner password';

let postgres: PostgresServer;
let ftp: ScriptedFtp;

before(async () => {
  [postgres, ftp] = await startTogether([
    startPostgres(),
    startScripted({ PASS: (password, { say }) => say(password === PLANTED ? '230 in' : '530 no') }),
  ]);
  ftp.files.set('/f', Buffer.from('text'));
});
after(() => Promise.all([postgres.stop(), ftp.stop()]));

/** The configuration has no password: once stored, it comes only from the database. */
function start(masterKey: string, hasAccount: boolean, dataDir?: string): Promise<TestGateway> {
  const connection = { id: 'ftp', name: 'F', type: 'ftp', host: '127.0.0.1', port: ftp.port, username: 'tester' };
  const account = {
    email: 'a@example.com',
    plan: 'pro',
    password: OWNER_PASSWORD,
    apiKeys: [{ name: 'k', key: API_KEY }],
    connections: [{ ...connection, tls: 'none', password: PLANTED }],
  };
  return startGateway({
    config: { database: { url: postgres.url }, accounts: hasAccount ? [account] : [] },
    env: masterKey === '' ? {} : { GATEWAY_MASTER_KEY: masterKey },
    ...(dataDir === undefined ? {} : { dataDir }),
  });
}

async function reads(gateway: TestGateway): Promise<boolean> {
  const { status } = await gateway.api.get('/api/read/ftp?path=/f', { key: API_KEY });
  return status === 200;
}

function rotate(env: Record<string, string>): Promise<{ readonly code: number; readonly output: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-rotate-'));
  const file = path.join(folder, 'gateway.yaml');
  writeFileSync(file, JSON.stringify({ dataDir: path.join(folder, 'data'), database: { url: postgres.url } }));
  return new Promise((resolve) => {
    const options = { env: { ...process.env, GATEWAY_CONFIG: file, ...env } };
    execFile(process.execPath, [MAIN, 'rotate-keys'], options, (error, stdout, stderr) => {
      rmSync(folder, { recursive: true });
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr });
    });
  });
}

describe('secrets at rest', () => {
  test('the files of the database contain none of them', async () => {
    const gateway = await start(FORMER, true);
    assert.ok(await reads(gateway));
    await gateway.stop();
    // Killed and started again, the server has its pages and its log on disk.
    await postgres.kill();
    await postgres.restart();
    const folder = `/proc/${postgres.pid}/cwd`;
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = [PLANTED, API_KEY, OWNER_PASSWORD, FORMER].flatMap((secret) => [
      Buffer.from(secret),
      Buffer.from(Buffer.from(secret).toString('base64').slice(0, -4)),
    ]);
    let sawAccount = false;
    for (const entry of files) {
      const bytes = readFileSync(path.join(entry.parentPath, entry.name));
      sawAccount ||= bytes.includes('a@example.com');
      for (const text of texts) assert.ok(!bytes.includes(text), `${entry.name} holds "${text.toString()}"`);
    }
    assert.ok(sawAccount, 'looked at the wrong files');
    held({
      area: 'Attacks',
      what: 'A stolen database',
      done: 'every file of the PostgreSQL cluster, its log too, searched for planted passwords, keys and the master key',
      held: 'none of them is there',
      tries: 1,
    });
  });

  test('the command rotate-keys: the new key opens everything, the former one nothing', async () => {
    const running = await start(FORMER, false);
    assert.equal((await rotate({ GATEWAY_MASTER_KEY: FORMER })).code, 78);
    assert.equal((await rotate({ GATEWAY_MASTER_KEY: FORMER, GATEWAY_NEW_MASTER_KEY: 'short' })).code, 1);
    assert.ok(await reads(running));
    const { code, output } = await rotate({ GATEWAY_MASTER_KEY: FORMER, GATEWAY_NEW_MASTER_KEY: NEXT });
    assert.equal(code, 0, output);
    assert.match(output, /^2 secrets are wrapped by the new master key/);
    assert.ok(!output.includes(NEXT) && !output.includes(FORMER));
    await running.stop();

    const next = await start(NEXT, false);
    assert.ok(await reads(next));
    await next.stop();
    await assert.rejects(start(FORMER, false), /is not the one that encrypted the secrets/);
    const again = await rotate({ GATEWAY_MASTER_KEY: FORMER, GATEWAY_NEW_MASTER_KEY: 'ef'.repeat(32) });
    assert.equal(again.code, 1, again.output);
    held({
      area: 'Attacks',
      what: 'A stolen master key, changed by rotate-keys',
      done: 'rotated beside a running gateway; a gateway and a further rotation tried with the former key',
      held: 'everything opens with the new key, nothing with the former one; no key is printed',
      tries: 1,
    });
  });

  test('a key file beside the data causes a warning', async () => {
    const gateway = await startGateway();
    const warning = /"level":"warn".*the master key lies beside the data that it protects/;
    await eventually(() => warning.test(gateway.output()), 'the warning');
    await gateway.stop();
    const withKey = await startGateway({ env: { GATEWAY_MASTER_KEY: NEXT } });
    assert.doesNotMatch(withKey.output(), /lies beside the data/);
    await withKey.stop();
  });
});
