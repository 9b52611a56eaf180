import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { timesBareStart } from '../support/start-cost.js';
import { inPackage } from '../../src/base/package-root.js';
import { inFolder } from '../config/support.js';
import { MAIN, MAIN_PATH } from '../support/start-args.js';

const MANIFEST = fileURLToPath(new URL('../../../package.json', import.meta.url));
const FAKE = fileURLToPath(new URL('./fake-gateway.js', import.meta.url));
/** The limit for reading the configuration, in starts of an empty Node.js program. */
const MAX_STARTS = 12;

interface Run {
  readonly child: ChildProcess;
  /** Resolves when standard output contains the text. */
  readonly saw: (text: string) => Promise<void>;
  /** Exit code (or signal) and the whole output. */
  readonly ended: Promise<{ code: number | string; out: string; err: string }>;
}

function run(context: TestContext, script: string, args: string[], env: Record<string, string> = {}): Run {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [script, ...args], {
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  context.after(() => child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = once(child, 'close').then(([code, signal]) => {
    return { code: (code ?? signal) as number | string, out, err };
  });
  const saw = async (text: string): Promise<void> => {
    while (!out.includes(text)) {
      const more = await Promise.race([once(child.stdout, 'data'), ended]);
      assert.ok(Array.isArray(more) || out.includes(text), `ended without "${text}": ${out}${err}`);
    }
  };
  return { child, saw, ended };
}

suite('a bad configuration', () => {
  test('ends the program before anything else is loaded, with 78 and one line for each mistake', async (t) => {
    await inFolder(async (folder) => {
      const file = path.join(folder, 'gateway.yaml');
      writeFileSync(file, 'server: { port: eighty, prot: 80 }\nmetrics: { token: "hunter2 x" }\n');
      const start = (env: Readonly<Record<string, string>> = {}) =>
        run(t, MAIN, [], { ...env, GATEWAY_CONFIG: file, LOG_LEVEL: 'loud' }).ended;
      const { code, out, err } = await start();
      assert.equal(code, 78);
      assert.equal(out, '');
      assert.match(err, /^server\.prot: .*\nserver\.port: .*\nlog\.level: .*\nmetrics\.token: .*\n$/);
      assert.doesNotMatch(err, /hunter2/);
      // Processor time, which does not include waiting for a core. With the whole gateway loaded, it would be 20.
      const times = await timesBareStart('cpuMs', MAX_STARTS, start);
      assert.ok(times < MAX_STARTS, `${times} times a bare start of Node.js`);
    });
  });

  test('is found without a file too', async (t) => {
    const { code, err } = await run(t, MAIN, [], { PORT: '-1', GATEWAY_CONFIG: '' }).ended;
    assert.equal(code, 78);
    assert.equal(err, 'server.port: -1; allowed: a whole number from 0 to 65535 (PORT)\n');
  });
});

test('the log names an unexpected error by its places in the sources, although the program is one bundle', async (t) => {
  await inFolder(async (folder) => {
    const planted = path.join(folder, 'planted.mjs');
    writeFileSync(
      planted,
      `import { syncBuiltinESMExports } from 'node:module';
       import os from 'node:os';
       os.availableParallelism = () => { throw new TypeError('planted'); };
       syncBuiltinESMExports();`,
    );
    const file = path.join(folder, 'gateway.yaml');
    writeFileSync(file, JSON.stringify({ dataDir: path.join(folder, 'data'), server: { port: 0, threads: 'auto' } }));
    const env = { GATEWAY_CONFIG: file, NODE_OPTIONS: `--import ${planted}` };
    const { code, out } = await run(t, MAIN, [], env).ended;
    assert.equal(code, 1);
    const line = out.split('\n').find((text) => text.includes('"level":"fatal"')) ?? assert.fail(out);
    const { err } = JSON.parse(line) as { err: { stack: string } };
    const [message, , caller = ''] = err.stack.split('\n');
    assert.equal(message, 'TypeError: planted');
    const place = /^ {4}at (?:\w+ \()?(src\/[\w/-]+\.ts):(\d+):(\d+)\)?$/.exec(caller) ?? assert.fail(err.stack);
    const [, name = '', row, column] = place;
    const source = readFileSync(inPackage(name), 'utf8').split('\n')[Number(row) - 1] ?? '';
    assert.match(source.slice(Number(column) - 1), /^availableParallelism\(\)/);
    assert.doesNotMatch(err.stack, /dist\/bundle/);
  });
});

// Each starts its own program, and two of them take long to end.
suite('signals', { concurrency: true }, () => {
  for (const [signal, words] of [
    ['SIGTERM', 'retired and drained'],
    ['SIGINT', 'drained'],
  ] as const) {
    test(`${signal}: ${words}, then the program ends with 0`, async (t) => {
      const { child, saw, ended } = run(t, FAKE, ['obedient']);
      await saw('serving');
      child.kill(signal);
      const { code, out } = await ended;
      assert.equal(code, 0);
      assert.ok(out.split('\n').includes(words), out);
    });
  }

  for (const [signal, words] of [
    ['SIGTERM', 'retired and drained'],
    ['SIGINT', 'drained'],
  ] as const) {
    test(`${signal} to npm start alone reaches the gateway: ${words}, and npm ends with it`, async (t) => {
      await inFolder(async (folder) => {
        const { scripts } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { scripts: { start: string } };
        writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts }));
        mkdirSync(path.join(folder, path.dirname(MAIN_PATH)), { recursive: true });
        writeFileSync(path.join(folder, MAIN_PATH), `await import(${JSON.stringify(FAKE)});\n`);
        // In a separate process group: a terminal would signal the whole group.
        const npm = spawn('npm', ['start', '--', 'obedient'], {
          cwd: folder,
          detached: true,
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        t.after(() => {
          try {
            process.kill(-(npm.pid ?? assert.fail()), 'SIGKILL');
          } catch {
            // All processes have ended.
          }
        });
        let out = '';
        npm.stdout.setEncoding('utf8').on('data', (text: string) => {
          out += text;
          if (text.includes('serving')) npm.kill(signal);
        });
        const [code] = (await once(npm, 'close')) as [number | null];
        assert.ok(out.split('\n').includes(words), out);
        assert.equal(code, 0);
      });
    });
  }

  for (const [signal, expected] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    test(`a second ${signal} does not wait for the drain`, async (t) => {
      const { child, saw, ended } = run(t, FAKE, ['stubborn']);
      await saw('serving');
      child.kill('SIGTERM');
      await saw('draining');
      child.kill(signal);
      assert.equal((await ended).code, expected);
    });
  }

  test('a stop that fails ends with 1 and says why', async (t) => {
    const { child, saw, ended } = run(t, FAKE, ['failingStop']);
    await saw('serving');
    child.kill('SIGTERM');
    const { code, out } = await ended;
    assert.equal(code, 1);
    assert.match(out, /a session would not close/);
  });

  for (const kind of ['busyThread', 'busyLoop']) {
    test(`${kind}: uninterruptible work does not keep the program`, { timeout: 900_000 }, async (t) => {
      const { child, saw, ended } = run(t, FAKE, [kind]);
      await saw('serving');
      child.kill('SIGTERM');
      const { code } = await ended;
      assert.equal(code, 'SIGALRM');
    });
  }

  test('SIGTERM during the start ends it with 0', async (t) => {
    const { child, saw, ended } = run(t, FAKE, ['slow']);
    await saw('starting');
    child.kill('SIGTERM');
    const { code, err } = await ended;
    assert.equal(code, 0);
    assert.equal(err, '');
  });

  test('SIGHUP reads the certificate again and nothing else', async (t) => {
    const { child, saw, ended } = run(t, FAKE, ['obedient']);
    await saw('serving');
    child.kill('SIGHUP');
    await saw('reloaded');
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
  });

  test('a bad certificate at SIGHUP is logged and the gateway continues', async (t) => {
    const { child, saw, ended } = run(t, FAKE, ['badCertificate']);
    await saw('serving');
    child.kill('SIGHUP');
    await saw('no such certificate');
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
  });
});

suite('an uncaught error', () => {
  for (const kind of ['exception', 'rejection']) {
    test(`${kind}: is logged, the gateway stops, the program ends with 1`, async (t) => {
      const { child, saw, ended } = run(t, FAKE, [kind]);
      await saw('serving');
      child.kill('SIGUSR2');
      const { code, out } = await ended;
      assert.equal(code, 1);
      assert.match(out, /"level":"fatal".*escaped[\s\S]*drained/);
    });
  }
});

suite('a start that fails', () => {
  test('port in use: one line, 1', async (t) => {
    const holder = net.createServer().listen(0, '127.0.0.1');
    t.after(() => holder.close());
    await once(holder, 'listening');
    const { port } = holder.address() as net.AddressInfo;
    const { code, out, err } = await run(t, FAKE, ['portInUse', String(port)]).ended;
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.equal(
      err,
      `cannot start: server.port: 127.0.0.1:${port} is in use; stop the other program or set another port (PORT)\n`,
    );
  });

  test('database unreachable: one line, 1, no password', async (t) => {
    const { code, out, err } = await run(t, FAKE, ['databaseAway']).ended;
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.match(err, /^cannot start: database\.url: 127\.0\.0\.1:5432 did not answer; last: .*refused\n$/);
    assert.doesNotMatch(err, /hunter2/);
  });

  test('a defect: one line on standard error, the stack in the log, 1', async (t) => {
    const { code, out, err } = await run(t, FAKE, ['broken']).ended;
    assert.equal(code, 1);
    assert.equal(err, 'cannot start: undefined is not a function\n');
    assert.match(out, /"level":"fatal".*"stack":"TypeError/);
  });
});
