/**
 * The tarballs, installed into empty folders as users do: the gateway starts, `ftg` and the client use it, compilers
 * accept its types.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import ts from 'typescript';
import { stageCli } from '../../src/release/cli.js';
import { stageClient } from '../../src/release/client.js';
import { pack } from '../../src/release/tarball.js';
import { ROOT } from '../../src/release/places.js';
import { stageServer } from '../../src/release/server.js';
import { snippetsOf } from '../docs/snippets.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { START_ARGS } from '../support/start-args.js';

const run = promisify(execFile);

let folder: string;
let gateway: ChildProcess;
let env: NodeJS.ProcessEnv;
let url: string;

const at = (...names: readonly string[]): string => join(folder, ...names);

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ftg-installed-'));
  // The embedded database does not run as root, and must reach its folder.
  chmodSync(folder, 0o755);
  const staged = [
    await stageServer(at('staged/server')),
    await stageClient(at('staged/client')),
    await stageCli(at('staged/cli')),
  ];
  for (const one of staged) {
    const { filename } = await pack(one, folder);
    const project = at(one.name);
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "name": "empty", "version": "1.0.0", "type": "module" }\n');
    const startedAt = performance.now();
    // Built scripts only make it faster, and nothing depends on them; `npm ci` of this project has shown that they run.
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
    await run('npm', ['install', ...quiet, join('..', filename)], { cwd: project });
    console.log(`${one.name}: installed in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  }
  await startGateway();
});

after(async () => {
  gateway.kill('SIGTERM');
  if (gateway.exitCode === null) await once(gateway, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

/** The quick start, by the command that npm has installed. */
async function startGateway(): Promise<void> {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const cwd = at('file-transfer-gateway');
  const program = join(cwd, 'node_modules/.bin/file-transfer-gateway');
  const variables = { PATH: process.env['PATH'] ?? '', PORT: String(port) };
  gateway = spawn(program, { cwd, env: variables, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  gateway.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const key = (): string | undefined => /API key +(ftg_\S+)/.exec(output)?.[1];
  await eventually(() => key() !== undefined, 'the quick start prints its key');
  env = { ...process.env, GATEWAY: url, KEY: key(), HOME: folder };
}

test('the gateway starts as npm start does, and has its pages', async () => {
  const program = readFileSync(
    at('file-transfer-gateway/node_modules/file-transfer-gateway/dist/bundle/main.js'),
    'utf8',
  );
  assert.ok(program.startsWith(`#!/usr/bin/env -S node ${START_ARGS.join(' ')}\n`));
  for (const target of ['/', '/docs', '/openapi.json']) {
    assert.equal((await fetch(url + target)).status, 200, target);
  }
});

test('the gateway brings the client and ftg, too', async () => {
  const cwd = at('file-transfer-gateway');
  const code = "console.log(typeof (await import('file-transfer-gateway/client')).FileTransferGateway)";
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { cwd });
  assert.equal(stdout, 'function\n');
  await run(join(cwd, 'node_modules/.bin/ftg'), ['--version'], { cwd });
});

test('ftg, installed alone, talks to it; the commands of its README run', async () => {
  const cwd = at('file-transfer-gateway-cli');
  writeFileSync(join(cwd, 'key.txt'), env['KEY'] ?? '');
  const variables = { ...env, HOME: cwd, PATH: `${join(cwd, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}` };
  const options = { cwd, env: variables };
  for (const { code } of snippetsOf('src/cli/README.md')) await run('bash', ['-euo', 'pipefail', '-c', code], options);
  assert.equal(readFileSync(join(cwd, 'copy.txt'), 'utf8'), 'Hello, world!\n');
  const { stdout } = await run('ftg', ['connections', 'create', '--help'], options);
  assert.match(stdout, /--host-key/);
  await run('ftg', ['init', '--yes', '--sandbox', '--email', 'ops@example.com'], options);
  assert.match(readFileSync(join(cwd, 'gateway.yaml'), 'utf8'), /sandbox/);
  await assert.rejects(run('ftg', ['serve'], options), /npm install file-transfer-gateway/);
});

test('the client, installed alone, talks to it; the code of its README runs', async () => {
  const cwd = at('file-transfer-gateway-client');
  for (const [index, { code }] of snippetsOf('src/client/README.md').entries()) {
    const file = join(cwd, `readme-${index}.ts`);
    writeFileSync(file, code);
    const { outputText } = ts.transpileModule(code, { compilerOptions: { module: ts.ModuleKind.ESNext } });
    writeFileSync(file.replace('.ts', '.js'), outputText);
    const { stdout } = await run(process.execPath, [file.replace('.ts', '.js')], { cwd, env });
    assert.match(stdout, /hello\.txt: 14 bytes[^]*Hello, world!/);
  }
});

/** What a strict compiler must accept: no option needs a cast, and nothing is without a type. */
const USE = `
import { FileTransferGateway, FtgError, verifyWebhook, type Job, type NetworkReason } from 'file-transfer-gateway-client';

export async function use(signal: AbortSignal | undefined, path: string | undefined, retry: { attempts: number } | undefined) {
  const ftg = new FileTransferGateway({ baseUrl: 'https://files.example.com', apiKey: 'ftg_x', retry, timeoutMs: undefined });
  const { size } = await ftg.upload('c', new Blob(['x']), { filename: 'x', path, signal, overwrite: undefined });
  await using file = await ftg.download('c', '/x', { signal, range: { start: 0, end: undefined } });
  const bytes: Uint8Array = await file.bytes();
  for await (const { name } of ftg.listStream('c', path, { recursive: true, pattern: path })) console.log(name.length);
  const job: Job = await ftg.jobs.create({ type: 'copy', source: { connectionId: 'c', path: '/' }, name: path });
  const event = await verifyWebhook('whsec_x', new Headers(), bytes, { toleranceSeconds: undefined });
  // @ts-expect-error a misspelt option is found
  await ftg.list('c', '/', { recursiv: true });
  // @ts-expect-error so is a parsed body
  await verifyWebhook('whsec_x', {}, { type: 'x' });
  try {
    await ftg.me({ signal });
  } catch (thrown) {
    if (!(thrown instanceof FtgError)) throw thrown;
    const reason: NetworkReason | undefined = thrown.reason;
    // @ts-expect-error there is no such code
    console.log(thrown.code === 'no_such_code', reason);
  }
  return [size, job.state, event.type] as const;
}
`;

const projects: Record<string, ts.CompilerOptions> = {
  'Node.js': { types: ['node'], lib: ['lib.es2023.d.ts'], module: ts.ModuleKind.NodeNext },
  'a browser': {
    types: [],
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  },
};

for (const [name, options] of Object.entries(projects)) {
  test(`the strictest compiler takes its types in a project for ${name}`, () => {
    const cwd = at('file-transfer-gateway-client');
    const types = join(cwd, 'node_modules/@types');
    rmSync(types, { force: true });
    symlinkSync(join(ROOT, 'node_modules/@types'), types);
    const file = join(cwd, 'use.ts');
    writeFileSync(file, USE);
    const program = ts.createProgram([file], {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      target: ts.ScriptTarget.ES2022,
      noEmit: true,
      noPropertyAccessFromIndexSignature: true,
      ...options,
    });
    const said = ts.getPreEmitDiagnostics(program).map(({ file: where, messageText }) => {
      return `${where?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    assert.deepEqual(said, []);
  });
}

test('the gateway ends well', async () => {
  gateway.kill('SIGTERM');
  assert.deepEqual(await once(gateway, 'exit'), [0, null]);
});
