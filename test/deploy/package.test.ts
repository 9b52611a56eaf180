/** What `npm pack` makes is whole: it starts in another folder, and brings the client. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../support/ports.js';
import { START_ARGS } from '../support/start-args.js';
import { eventually } from '../support/eventually.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

interface Manifest {
  readonly name: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  /** Of which each system has its own. */
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

test('the package holds what it needs and nothing else, and starts elsewhere', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-package-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // The embedded database does not run as root, and has to reach its folder.
  chmodSync(folder, 0o755);
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Manifest;
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  const files = packed.files.map((file) => file.path);
  const bins = Object.values(manifest.bin);
  for (const needed of [
    ...bins,
    'dist/dashboard/index.html',
    'dist/site/docs.html',
    'config/gateway.example.yaml',
    'LICENSE',
  ]) {
    assert.ok(files.includes(needed), `${needed} is missing`);
  }
  const known =
    /^(?:dist\/(?:src|dashboard|site|man)\/|src\/storage\/migrations\/|config\/|[A-Z]+(?:\.md)?$|package\.json$)/;
  assert.deepEqual(
    files.filter((file) => !known.test(file)),
    [],
  );

  const modules = path.join(folder, 'node_modules');
  const installed = path.join(modules, manifest.name);
  mkdirSync(modules);
  await run('tar', ['-xzf', path.join(folder, packed.filename), '-C', modules]);
  renameSync(path.join(modules, 'package'), installed);
  const optional = Object.keys(manifest.optionalDependencies);
  const present = optional.filter((name) => existsSync(path.join(ROOT, 'node_modules', name)));
  for (const name of [...Object.keys(manifest.dependencies), ...present]) {
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  }

  const port = await freePort();
  // As npx starts it: by its first line, which says what npm start does.
  const program = path.join(installed, manifest.bin[manifest.name] ?? '');
  chmodSync(program, 0o755);
  const limits = START_ARGS.filter((arg) => arg !== '--enable-source-maps');
  assert.ok(readFileSync(program, 'utf8').startsWith(`#!/usr/bin/env -S node ${limits.join(' ')}\n`));
  const child = spawn(program, {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  t.after(() => child.kill('SIGKILL'));
  const answers = async (target: string): Promise<boolean> => {
    const answer = await fetch(`http://127.0.0.1:${port}${target}`).catch(() => undefined);
    return answer?.status === 200;
  };
  await eventually(() => answers('/healthz'), 'the gateway is ready', 60_000);
  assert.ok(await answers('/'), 'the dashboard is there');
  assert.ok(await answers('/docs/readme'), 'the documentation is there');
  const client =
    "import('file-transfer-gateway/client').then(({ FileTransferGateway }) => console.log(typeof FileTransferGateway))";
  assert.equal((await run(process.execPath, ['-e', client], { cwd: folder })).stdout, 'function\n');
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
});
