/** Runs the Python client's own tests against one gateway with an SFTP server. Each of them is a test here. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { startSshd, type TestSshd } from '../servers/sshd.js';
import { KEY, startGateway, type TestGateway } from '../support/gateway.js';
import { PYTHON, pythonEnvironment, TESTS } from './python.js';

interface Outcome {
  readonly name: string;
  /** Empty if the test passed. */
  readonly problem: string;
}

let gateway: TestGateway;
let shell: TestSshd;

before(async () => {
  shell = await startSshd();
  const privateKey = readFileSync(shell.clientKeyFile, 'utf8');
  const ssh = { type: 'sftp', host: '127.0.0.1', port: shell.port, username: shell.username, privateKey };
  const apiKeys = [{ name: 'test', key: KEY }];
  gateway = await startGateway({
    config: {
      sandbox: true,
      network: { webhooks: { allow: ['127.0.0.1/32'] }, urlFetch: { allow: ['127.0.0.1/32'] } },
      accounts: [
        {
          email: 'test@example.com',
          plan: 'pro',
          digests: 'always',
          apiKeys,
          connections: [{ id: 'shell', name: 'Shell', ...ssh, rootPath: shell.files }],
        },
      ],
    },
  });
});

after(async () => {
  await gateway?.stop();
  await shell?.stop();
});

for (const file of readdirSync(TESTS).filter((name) => /^test_.*\.py$/.test(name))) {
  test(file, async (t) => {
    const env = pythonEnvironment({ GATEWAY: gateway.url, KEY });
    const child = spawn(PYTHON, ['run_suite.py', file.replace('.py', '')], { cwd: TESTS, env });
    const [exited, said] = [once(child, 'exit'), text(child.stderr)];
    let count = 0;
    for await (const line of createInterface(child.stdout)) {
      const { name, problem } = JSON.parse(line) as Outcome;
      count += 1;
      await t.test(name, () => assert.equal(problem, ''));
    }
    const [code] = (await exited) as [number | null];
    assert.equal(code, 0, await said);
    assert.ok(count > 0, 'it has no tests');
    // Python writes warnings there about unclosed resources and coroutines that were never awaited.
    assert.equal(await said, '');
  });
}
