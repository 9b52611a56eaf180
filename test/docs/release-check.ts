/** The check of blocks about releases: their commands are known, and name files that `npm run pack` makes. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST, ROOT } from '../../src/release/places.js';

const TARBALL = `(?:\\./)?${MANIFEST.name}(?:-client|-cli)?-${MANIFEST.version.replaceAll('.', '\\.')}\\.tgz`;
const COMMANDS: readonly RegExp[] = [
  new RegExp(`^npm install (--global )?${TARBALL}$`),
  new RegExp(`^tar -xzf ${TARBALL}$`),
  new RegExp(`^npx (${Object.keys(MANIFEST.bin).join('|')})$`),
  new RegExp(`^npm run (${Object.keys(MANIFEST.scripts).join('|')})$`),
  /^npm (ci|start)$/,
  /^cd package$/,
  /^npm (audit|sbom --package-lock-only --sbom-format=cyclonedx) --omit=dev$/,
  /^sha256sum --check --strict SHA256SUMS$/,
  /^gpg --verify SHA256SUMS\.asc SHA256SUMS$/,
  new RegExp(`^git checkout v${MANIFEST.version}$`),
  new RegExp(`^docker build -f (\\S+) -t ${MANIFEST.name}:${MANIFEST.version} \\.$`),
];

/** Throws at an unknown command. */
export function release(code: string): void {
  for (const command of code.trim().split(/\n| && /)) {
    const known = COMMANDS.map((pattern) => pattern.exec(command)).find((match) => match !== null);
    assert.ok(known, command);
    if (command.startsWith('docker build')) assert.ok(existsSync(join(ROOT, known[1] ?? '')), command);
  }
}
