/** The package of `ftg`: its own modules, those that they import, and the few dependencies of these. */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as esbuild from 'esbuild';
import { lockOf } from './lock.js';
import { MANIFEST, ROOT } from './places.js';
import { type Staged, stage } from './stage.js';

const MAIN = 'dist/src/cli/main.js';
/** Whoever begins a configuration is shown this one. */
const EXAMPLE = 'config/gateway.example.yaml';

export async function stageCli(folder: string): Promise<Staged> {
  const { inputs } = await modules();
  const dependencies = Object.fromEntries(
    packagesOf(inputs).map((name) => [name, MANIFEST.dependencies[name] ?? missing(name)]),
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
  const staged = stage(manifest, folder);
  for (const file of [...Object.keys(inputs), EXAMPLE, man ?? []].flat()) {
    const target = join(folder, file);
    mkdirSync(dirname(target), { recursive: true });
    // Maps are not shipped.
    writeFileSync(target, readFileSync(join(ROOT, file), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'));
  }
  chmodSync(join(folder, MAIN), 0o755);
  copyFileSync(join(ROOT, 'src/cli/README.md'), join(folder, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'npm-shrinkwrap.json'), lockOf(manifest, Object.keys(dependencies)));
  return staged;
}

/** Everything that the command can come to import, but for the gateway itself (`ftg serve`). */
async function modules(): Promise<esbuild.Metafile> {
  const { metafile } = await esbuild.build({
    entryPoints: [join(ROOT, MAIN)],
    absWorkingDir: ROOT,
    ...({ bundle: true, format: 'esm', platform: 'node', packages: 'external', metafile: true, write: false } as const),
    plugins: [
      {
        name: 'without the gateway',
        setup: (build) => {
          build.onResolve({ filter: /\/main\.js$/ }, ({ path, kind }) =>
            kind === 'dynamic-import' ? { path, external: true } : undefined,
          );
        },
      },
    ],
  });
  return metafile;
}

function packagesOf(inputs: esbuild.Metafile['inputs']): string[] {
  const imports = Object.values(inputs).flatMap((input) => input.imports);
  const bare = imports.filter(({ external, path }) => external === true && !/^(node:|\.)/.test(path));
  return [...new Set(bare.map(({ path }) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path))].sort();
}

function missing(name: string): never {
  throw new Error(`ftg imports ${name}, which is no dependency of the project`);
}
