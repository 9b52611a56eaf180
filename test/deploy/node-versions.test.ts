/**
 * The built program under every supported Node.js (package.json, engines), on both front ends: start, a first upload,
 * its download, an orderly stop. npm also accepts the versions. test/node-matrix.sh does the same from a clean clone,
 * with `npm ci` of each version.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startGateway } from '../support/gateway.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CACHE = path.join(ROOT, '.cache/node');
const MAJORS = [20, 22, 24, 26];
const FRONT_ENDS = ['auto', 'node'] as const;
const run = promisify(execFile);

/**
 * The binary of that version, from the registry; cached for the next run. It is fetched once: half a binary does not
 * run.
 */
function nodeOf(major: number): Promise<string> {
  const binary = binaries.get(major) ?? install(major);
  binaries.set(major, binary);
  return binary;
}

const binaries = new Map<number, Promise<string>>();

async function install(major: number): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = path.join(CACHE, String(major));
  const binary = path.join(folder, 'node_modules', name, 'bin', 'node');
  const isThere = await access(binary).then(
    () => true,
    () => false,
  );
  if (isThere) return binary;
  await mkdir(folder, { recursive: true });
  const quiet = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', ...quiet, '--prefix', folder, `${name}@${major}`]);
  return binary;
}

describe('every supported Node.js', { concurrency: 2 }, () => {
  for (const major of MAJORS) {
    // pg-boss declares Node.js 22.12 and runs on 20, as these tests show: package-lock.json omits its declaration.
    test(`npm ci has no complaint about Node.js ${major}`, async (t) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'ftg-npm-'));
      t.after(() => rm(folder, { recursive: true }));
      for (const name of ['package.json', 'package-lock.json'])
        await copyFile(path.join(ROOT, name), path.join(folder, name));
      const env = { ...process.env, PATH: `${path.dirname(await nodeOf(major))}:${process.env['PATH'] ?? ''}` };
      const options = { cwd: folder, env, maxBuffer: 16 * 1024 * 1024 };
      const { stderr } = await run('npm', ['ci', '--dry-run', '--ignore-scripts', '--loglevel=warn'], options);
      assert.doesNotMatch(stderr, /EBADENGINE/);
    });

    for (const frontEnd of FRONT_ENDS) {
      test(`Node.js ${major}, frontEnd: ${frontEnd}`, async (t) => {
        const node = await nodeOf(major);
        const gateway = await startGateway({ node, config: { sandbox: true, server: { frontEnd } } });
        t.after(() => gateway.stop());
        const [build = ''] = /"build":"[^"]+"/.exec(gateway.output()) ?? [];
        const served = build.startsWith('"build":"node:http') ? 'node' : 'uws';
        if (frontEnd === 'node') assert.equal(served, 'node');
        // The warning comes once, and only where the configuration does not ask for node:http.
        const warnings = gateway.output().match(/HTTP is served by node:http/g) ?? [];
        assert.equal(warnings.length, frontEnd === 'auto' && served === 'node' ? 1 : 0, gateway.output());

        const content = randomBytes(3_000_000);
        const uploaded = await gateway.api.send('/api/upload/sandbox', {
          method: 'POST',
          query: { path: '/', filename: 'first.bin' },
          headers: { 'Content-Type': 'application/octet-stream' },
          body: content,
        });
        assert.equal(uploaded.status, 200, uploaded.text);
        const downloaded = await gateway.api.get('/api/download/sandbox', { query: { path: '/first.bin' } });
        assert.ok(downloaded.bytes.equals(content), `${downloaded.status}`);
        assert.equal(await gateway.stop(), 0, gateway.output());
      });
    }
  }
});
