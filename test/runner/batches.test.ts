/** Files in one process: each is judged as if it were alone, and which ones may be there. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.js';
import { aloneBecause, batchesOf } from './batches.js';
import { FOLDER, testFiles } from './selection.js';

const REHEARSAL = fileURLToPath(new URL('rehearsal.js', import.meta.url));
const HEAD = `import assert from 'node:assert/strict';\nimport { after, before, test } from 'node:test';\n`;
const FILES = {
  plain: `let ready = false; before(() => (ready = true)); test('is ready', () => assert.ok(ready));`,
  failing: `test('fails', () => assert.fail('as it should'));\ntest('goes on', () => undefined);`,
  unready: `before(() => { throw new Error('no server') });\ntest('needs one', () => undefined);`,
  unloadable: `throw new Error('not even loaded');`,
  skipping: `test('later', { skip: true }, () => undefined);`,
  dying: `test('dies', () => process.exit(3));`,
  company: `test('dies in company', () => { if (globalThis.company) process.exit(4); globalThis.company = true; });`,
  // What it starts outlives it: below it in another group without its environment, and below none.
  starting: `import net from 'node:net';
    import { spawn } from 'node:child_process';
    test('starts others', async () => {
      const call = 'require("node:net").connect(' + process.env.CALLED + ')';
      spawn(process.execPath, ['-e', call], { detached: true, stdio: 'ignore', env: {} });
      spawn('sh', ['-c', '"$0" -e "$1" &', process.execPath, call], { stdio: 'ignore' });
      await new Promise(() => net.connect(process.env.CALLED));
    });`,
  hanging: `test('hangs', () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); });`,
  last: `test('is last', () => undefined);`,
  busy: `import { execFile } from 'node:child_process';
    test('has a busy child', async () => {
      const burn = 'for (let used; (used = process.cpuUsage()), used.user + used.system < 2_000_000; );';
      await new Promise((done) => execFile(process.execPath, ['-e', burn], done));
    });`,
};

let folder: string;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'ftg-rehearsal-'));
  for (const [name, body] of Object.entries(FILES)) writeFileSync(path.join(folder, `${name}.test.mjs`), HEAD + body);
  writeFileSync(path.join(folder, 'again.test.mjs'), HEAD + FILES.company);
});
after(() => rmSync(folder, { recursive: true }));

/** The summary that the run ends with, and everything before it. */
async function rehearse(
  names: readonly string[],
  timeoutMs = 60_000,
): Promise<{
  readonly text: string;
  readonly summary: string;
  readonly failed: readonly string[];
  readonly code: number;
}> {
  const files = names.map((name) => path.join(folder, `${name}.test.mjs`));
  // A test runner inside of a test runs nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(process.execPath, [REHEARSAL, String(timeoutMs), ...files], { env }, (error, text) => {
      const failed = [...text.matchAll(/^failed: (.*?): (.*)$/gm)].map(
        ([, file = '', why = '']) => `${file.replaceAll(/[^, ]*\//g, '').replaceAll('.test.mjs', '')}: ${why}`,
      );
      const [summary = ''] = text.match(/^\d+ passed, \d+ failed$/m) ?? [];
      resolve({ text, summary, failed, code: typeof error?.code === 'number' ? error.code : 0 });
    });
  });
}

describe('several files in one process', () => {
  test('each has its own hooks, failures and time', async () => {
    const { summary, failed, code, text } = await rehearse(['plain', 'failing', 'last']);
    assert.deepEqual([summary, code], ['3 passed, 1 failed', 1], text);
    assert.deepEqual(failed, ['failing: fails: AssertionError [ERR_ASSERTION]: as it should']);
    const times = text.slice(text.indexOf('the slowest files'));
    for (const name of ['plain', 'failing', 'last']) assert.match(times, new RegExp(`/${name}\\.test\\.mjs`));
  });

  test(
    'their processor time counts, with that of what they start',
    { skip: process.platform !== 'linux' },
    async () => {
      const { text } = await rehearse(['plain', 'busy']);
      const [, seconds, names] = /in seconds of processor time.*\n *([\d.]+) +\d+ {2}(.*)/.exec(text) ?? [];
      assert.match(names ?? '', /plain\.test\.mjs .*busy\.test\.mjs$/, text);
      assert.ok(Number(seconds) >= 2, text);
    },
  );

  test('one that cannot be loaded, or prepared, and one that skips fail; the others count', async () => {
    const { summary, failed, text } = await rehearse(['unloadable', 'unready', 'skipping', 'last']);
    assert.match(summary, /^1 passed/, text);
    for (const one of ['unloadable', 'unready', 'skipping'])
      assert.ok(
        failed.some((failure) => failure.startsWith(`${one}: `)),
        `${one} in ${failed.join('; ')}`,
      );
    assert.ok(!failed.some((failure) => failure.startsWith('last')));
  });

  test('one that ends the process fails alone; those after it run again, those before do not', async () => {
    const { summary, failed, text } = await rehearse(['plain', 'dying', 'last']);
    assert.equal(summary, '2 passed, 1 failed', text);
    assert.match(failed.join(), /^dying: /);
    assert.match(text, /these run again, alone: .*dying\.test\.mjs, .*last\.test\.mjs$/m);
  });

  test('the same after another has failed', async () => {
    const { summary, failed, text } = await rehearse(['failing', 'dying', 'last']);
    assert.equal(summary, '2 passed, 2 failed', text);
    assert.ok(failed.some((failure) => failure.startsWith('dying: ')));
  });

  test('one that hangs fails when its time is over; those after it run', async () => {
    // The limit is also that of the last one, which a busy machine starts slowly.
    const { failed, text } = await rehearse(['hanging', 'last'], 20_000);
    assert.match(text, /^1 passed/m);
    assert.match(failed.join(), /^hanging/);
  });

  test('files that end a process only in company have failed', async () => {
    const { summary, failed, text } = await rehearse(['company', 'again']);
    assert.equal(summary, '2 passed, 1 failed', text);
    assert.match(failed.join(), /^company, again: together in one process/);
  });
});

describe('a run that is ended', { skip: process.platform !== 'linux' }, () => {
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    test(`by ${name}: all that its files have started ends with it`, async (t) => {
      const server = net.createServer((socket) => socket.on('error', () => undefined).resume());
      const sockets: net.Socket[] = [];
      t.after(() => {
        for (const socket of sockets) socket.destroy();
        server.close();
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as net.AddressInfo;
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const run = spawn(process.execPath, [REHEARSAL, 'Infinity', path.join(folder, 'starting.test.mjs')], {
        env: { ...env, CALLED: String(port) },
        stdio: 'ignore',
      });
      const exited = once(run, 'exit');
      for await (const [socket] of on(server, 'connection') as AsyncIterable<[net.Socket]>)
        if (sockets.push(socket) === 3) break;
      run.kill(name);
      assert.deepEqual(await exited, [1, null]);
      await eventually(() => sockets.every(({ closed }) => closed), 'the end of all three');
    });
});

describe('who shares a process', () => {
  test('no file that changes, ends or measures its process', () => {
    const samples = path.join(folder, 'samples');
    mkdirSync(samples);
    const reasonOf = (text: string): string | undefined => {
      writeFileSync(path.join(samples, 'sample.test.js'), text);
      return aloneBecause('sample.test.js', samples);
    };
    const alone = [
      `process.env.HOME = '/'`,
      `process.env['HOME'] ??= '/'`,
      'delete process.env.HOME',
      'process.exit(1)',
      `process.kill(process.pid, 'SIGHUP')`,
      `process.once('SIGHUP', f)`,
      `process.chdir('/')`,
      'mock.timers.enable()',
      't.mock.timers.tick(1)',
      `mock.method(fs, 'open')`,
      'globalThis.fetch = f',
      'process.memoryUsage()',
      `import { assertFlatMemory } from '../support/memory.js'`,
    ];
    for (const text of alone) assert.notEqual(reasonOf(text), undefined, text);
    for (const text of [`const { HOME } = process.env`, `if (process.env.HOME === '/') f()`, `child.on('exit', f)`])
      assert.equal(reasonOf(text), undefined, text);
  });

  test('every file runs once, in batches that keep all processors busy', () => {
    const files = testFiles();
    const { alone, together } = batchesOf(files, FOLDER, 3);
    assert.deepEqual([...alone, ...together.flat()].sort(), files);
    assert.ok(together.flat().length > 100, 'many share a process');
    const few = batchesOf(together.flat().slice(0, 5), FOLDER, 3);
    assert.deepEqual([few.together.map((batch) => batch.length), few.alone.length], [[2, 2], 1]);
    assert.equal(batchesOf(['watch/diff.test.js'], FOLDER, 3).together.length, 0);
  });
});
