/** The package of nodes for n8n: three modules without dependencies, because n8n lists no others. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { derived } from '../build/derived.js';
import { lockOf } from './lock.js';
import { MANIFEST, ROOT } from './places.js';
import { type Staged, stage } from './stage.js';

const SOURCE = join(ROOT, 'src/n8n');
const CREDENTIALS = ['FileTransferGatewayApi.credentials'];
const NODES = ['FileTransferGateway.node', 'FileTransferGatewayTrigger.node'];

export async function stageN8n(folder: string): Promise<Staged> {
  const { version, license } = MANIFEST;
  const inDist = (name: string): string => `dist/${name}.js`;
  const manifest = {
    name: 'n8n-nodes-file-transfer-gateway',
    version,
    description: 'n8n nodes for the File Transfer Gateway: files on SFTP, FTP and S3 servers',
    // n8n finds it by the first one.
    keywords: ['n8n-community-node-package', 'sftp', 'ftp', 's3', 'file transfer'],
    license,
    engines: { node: '>=20.19' },
    files: ['dist'],
    n8n: { n8nNodesApiVersion: 1, strict: true, credentials: CREDENTIALS.map(inDist), nodes: NODES.map(inDist) },
    // n8n has it already. npm, which installs everything that is not optional, would install a hundred more packages.
    peerDependencies: { 'n8n-workflow': '*' },
    peerDependenciesMeta: { 'n8n-workflow': { optional: true } },
  };
  const staged = stage(manifest, folder);
  await build({
    entryPoints: [...CREDENTIALS, ...NODES].map((name) => join(SOURCE, `${name}.ts`)),
    outdir: join(folder, 'dist'),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    external: ['n8n-workflow'],
    plugins: [derived],
  });
  // Where the nodes look for them.
  for (const file of ['file-transfer-gateway.svg', ...NODES.map((name) => `${name}.json`)]) {
    copyFileSync(join(SOURCE, file), join(folder, 'dist', file));
  }
  copyFileSync(join(SOURCE, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  // For the list of its content; packages do not include it.
  writeFileSync(join(folder, 'package-lock.json'), lockOf(manifest, []));
  return staged;
}
