/** The package of the TypeScript client: one module without dependencies, and its types. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DECLARATIONS, declareClient } from '../build/declarations.js';
import { bundleClient } from './client-bundle.js';
import { lockOf } from './lock.js';
import { MANIFEST, ROOT } from './places.js';
import { type Staged, stage } from './stage.js';

export async function stageClient(folder: string): Promise<Staged> {
  const { version, license } = MANIFEST;
  const manifest = {
    name: 'file-transfer-gateway-client',
    version,
    description: 'Client of the File Transfer Gateway: files on SFTP, FTP and S3 servers, for Node.js and browsers',
    keywords: ['sftp', 'ftp', 's3', 'file transfer', 'upload', 'tus', 'webhook'],
    license,
    type: 'module',
    sideEffects: false,
    // For tools that do not read `exports`.
    main: './index.js',
    types: './types/index.d.ts',
    exports: {
      '.': { types: './types/index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
    engines: { node: '>=20.4' },
  };
  const staged = stage(manifest, folder);
  writeFileSync(join(folder, 'index.js'), await bundleClient());
  await declareClient();
  const types = join(folder, 'types');
  mkdirSync(types);
  for (const name of typesFrom('index')) copyFileSync(join(DECLARATIONS, name), join(types, name));
  copyFileSync(join(ROOT, 'src/client/README.md'), join(folder, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  // For the list of its content; packages do not include it.
  writeFileSync(join(folder, 'package-lock.json'), lockOf(manifest, []));
  return staged;
}

/** The declarations that this one needs, itself included. */
function typesFrom(name: string, found = new Set<string>()): Set<string> {
  const file = `${name}.d.ts`;
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(DECLARATIONS, file), 'utf8');
  for (const [, next = ''] of text.matchAll(/(?:from|import\() ?'\.\/([\w-]+)\.js'/g)) typesFrom(next, found);
  return found;
}
