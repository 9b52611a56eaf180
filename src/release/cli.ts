/** The package of `ftg`: the command with its libraries in it, made as in the gateway's package. */
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { BUNDLE, PROGRAM_OPTIONS, PROGRAMS } from '../build/bundle.js';
import { noticesOf, packagesIn } from './licences.js';
import { lockOf } from './lock.js';
import { MANIFEST, ROOT } from './places.js';
import { type Staged, stage } from './stage.js';

const MAIN = `${BUNDLE}/ftg.js`;
/** Shown when a configuration is begun. */
const EXAMPLE = 'config/gateway.example.yaml';

/** Packages that a module loads on demand, by `require`: the bundle does not contain them. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = { 'src/base/validators.ts': ['ajv', 'ajv-formats'] };

/** `ftg serve` starts the gateway if that is also installed. */
const withoutGateway: Plugin = {
  name: 'without the gateway',
  setup: (building) => {
    building.onResolve({ filter: /\/main\.js$/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};

export async function stageCli(folder: string): Promise<Staged> {
  const metafile = await bundleCli(folder);
  const dependencies = Object.fromEntries(
    packagesOutside(metafile).map((name) => [name, MANIFEST.dependencies[name] ?? missing(name)]),
  );
  const { version, license, engines, man } = MANIFEST;
  const manifest = {
    name: 'file-transfer-gateway-cli',
    version,
    description: 'ftg, the command line of the File Transfer Gateway: files on SFTP, FTP and S3 servers',
    keywords: ['sftp', 'ftp', 's3', 'file transfer', 'cli', 'sync'],
    license,
    type: 'module',
    engines,
    bin: { ftg: MAIN },
    ...(man === undefined ? {} : { man }),
    dependencies,
  };
  const bundled = packagesIn(metafile);
  const staged = { ...stage(manifest, folder), bundled };
  for (const file of [EXAMPLE, man ?? []].flat()) {
    const target = join(folder, file);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(ROOT, file), target);
  }
  chmodSync(join(folder, MAIN), 0o755);
  copyFileSync(join(ROOT, 'src/cli/README.md'), join(folder, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'THIRD-PARTY.md'), noticesOf(bundled));
  writeFileSync(join(folder, 'npm-shrinkwrap.json'), lockOf(manifest, Object.keys(dependencies)));
  return staged;
}

async function bundleCli(folder: string): Promise<Metafile> {
  const { metafile } = await build({
    ...PROGRAM_OPTIONS,
    entryPoints: { ftg: PROGRAMS.ftg },
    outdir: join(folder, BUNDLE),
    // It never prints a stack.
    sourcemap: false,
    plugins: [withoutGateway],
  });
  return metafile;
}

/** The packages that npm installs with it. */
function packagesOutside({ inputs, outputs }: Metafile): string[] {
  const imports = Object.values(outputs).flatMap((output) => output.imports);
  const bare = imports.filter(
    ({ external, path }) => external === true && !/^(node:|\.)/.test(path) && !isBuiltin(path),
  );
  const imported = bare.map(({ path }) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path);
  return [...new Set([...imported, ...Object.keys(inputs).flatMap((file) => REQUIRED[file] ?? [])])].sort();
}

function missing(name: string): never {
  throw new Error(`ftg imports ${name}, which is no dependency of the project`);
}
