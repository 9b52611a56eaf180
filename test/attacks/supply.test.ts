/** Code that runs on the machine of a user who installs this: SECURITY.md and the lock file must agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface LockedPackage {
  readonly hasInstallScript?: boolean;
  readonly integrity?: string;
  readonly link?: boolean;
}

const read = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> };
const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
  'dependencies' | 'devDependencies' | 'optionalDependencies',
  Record<string, string>
>;

/** The tools for checks and tests have their own lock file. */
const tools = JSON.parse(read('test/tools/package.json')) as {
  readonly dependencies: Record<string, string>;
};
const { packages: toolPackages } = JSON.parse(read('test/tools/package-lock.json')) as {
  packages: Record<string, LockedPackage>;
};

test('SECURITY.md lists exactly the packages that have install scripts', () => {
  const scripted = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([place]) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length));
  const section = read('SECURITY.md').split('## Dependencies')[1] ?? '';
  const listed = [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(listed.sort(), scripted.sort());
});

test('every dependency is pinned to one version', () => {
  const all = { ...dependencies, ...devDependencies, ...optionalDependencies, ...tools.dependencies };
  const loose = Object.entries(all).filter(
    ([, version]) => !/^(npm:@?[\w/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
  );
  assert.deepEqual(loose, []);
});

test('every package has a checksum in the lock file, except the native builds that only server.frontEnd: uws loads', () => {
  const bare = Object.entries(packages)
    .filter(
      ([place, { integrity, link }]) => place !== '' && link !== true && !/^sha512-.{86}==$/.test(integrity ?? ''),
    )
    .map(([place]) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length));
  const withoutChecksum = /^@uwsjs\/(?:(?:darwin|win32)-(?:arm64|x64)|linux-arm(?:64)?)-\d+$/;
  assert.deepEqual(
    bare.filter((name) => !withoutChecksum.test(name)),
    [],
  );
});

test('every tool has a checksum in its lock file', () => {
  const places = Object.entries(toolPackages).filter(([place]) => place !== '');
  assert.ok(places.length > 100, 'the packages were not found');
  assert.deepEqual(
    places.filter(([, { integrity }]) => !/^sha512-.{86}==$/.test(integrity ?? '')),
    [],
  );
});

test('tools are installed without their install scripts', () => {
  assert.match(read('test/tools/install.js'), /\['ci', '--ignore-scripts'/);
});
