/**
 * Makes a release: the tarballs of gateway, client, command line and nodes for n8n, their contents (CycloneDX), how
 * they were made (SLSA), and the SHA-256 of all. From one commit, with one npm, the tarballs are byte-for-byte equal.
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stageCli } from './cli.js';
import { stageClient } from './client.js';
import { stageN8n } from './n8n.js';
import type { Licensed } from './licences.js';
import { MANIFEST } from './places.js';
import { provenance } from './provenance.js';
import { stageServer } from './server.js';
import type { Staged } from './stage.js';
import { npm, pack, type Packed } from './tarball.js';

/** An entry of a bill of materials. */
interface Component {
  readonly name: string;
  readonly version: string;
  readonly [more: string]: unknown;
}

type Release = Readonly<Record<'server' | 'client' | 'cli' | 'n8n', Packed>>;

/** `folder` is emptied first. */
export async function makeRelease(folder: string): Promise<Release> {
  rmSync(folder, { recursive: true, force: true });
  const staging = join(folder, 'staging');
  const name = MANIFEST.name;
  const staged = {
    server: await stageServer(join(staging, name)),
    client: await stageClient(join(staging, `${name}-client`)),
    cli: await stageCli(join(staging, `${name}-cli`)),
    n8n: await stageN8n(join(staging, `n8n-nodes-${name}`)),
  };
  const release = {
    server: await pack(staged.server, folder),
    client: await pack(staged.client, folder),
    cli: await pack(staged.cli, folder),
    n8n: await pack(staged.n8n, folder),
  };
  const bills = [
    await billOfMaterials(staged.server, folder),
    await billOfMaterials(staged.client, folder),
    await billOfMaterials(staged.cli, folder),
    await billOfMaterials(staged.n8n, folder),
  ];
  rmSync(staging, { recursive: true });
  const sumOf = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  const sums = new Map(Object.values(release).map(({ filename }) => [filename, sumOf(filename)]));
  for (const name of bills) sums.set(name, sumOf(name));
  writeFileSync(join(folder, 'provenance.json'), await provenance(sums));
  sums.set('provenance.json', sumOf('provenance.json'));
  writeFileSync(join(folder, 'SHA256SUMS'), [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join(''));
  return release;
}

/** Includes its content in addition to what it installs. Resolves with the name of its file. */
async function billOfMaterials(staged: Staged, into: string): Promise<string> {
  const words = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--omit=dev'];
  const bill = JSON.parse(await npm(words, staged)) as { readonly components: Component[] };
  const isListed = (one: Licensed): boolean =>
    bill.components.some(({ name, version }) => name === one.name && version === one.version);
  for (const { name, version, licence } of (staged.bundled ?? []).filter((one) => !isListed(one))) {
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    const component = { type: 'library', name, version, purl, 'bom-ref': `bundled:${name}@${version}` };
    bill.components.push({ ...component, scope: 'required', licenses: [{ license: { id: licence } }] });
  }
  const file = `${staged.name}-${staged.version}.cdx.json`;
  writeFileSync(join(into, file), `${JSON.stringify(bill, null, 2)}\n`);
  return file;
}
