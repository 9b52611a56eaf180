/** The package of the gateway: as in package.json, without what only contributors need, and with fixed dependencies. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { declareClient } from '../build/declarations.js';
import { bundledPackages, thirdParty } from './licences.js';
import { lockOf } from './lock.js';
import { MANIFEST, ROOT } from './places.js';
import { type Staged, stage } from './stage.js';

export async function stageServer(folder: string): Promise<Staged> {
  const { name, version, description, license, engines, bin, man, exports, scripts, files } = MANIFEST;
  const { dependencies, optionalDependencies, allowScripts } = MANIFEST;
  const manifest = {
    name,
    version,
    description,
    license,
    type: 'module',
    engines,
    bin,
    man,
    exports,
    scripts: { start: scripts['start'] },
    dependencies,
    optionalDependencies,
    allowScripts,
  };
  const bundled = await bundledPackages();
  const staged = { ...stage(manifest, folder), bundled };
  await declareClient();
  for (const file of files) cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  writeFileSync(join(folder, 'THIRD-PARTY.md'), thirdParty(bundled));
  const lock = lockOf(manifest, Object.keys({ ...dependencies, ...optionalDependencies }));
  // For users who unpack it and run `npm ci`: they install exactly what was tested.
  writeFileSync(join(folder, 'npm-shrinkwrap.json'), lock);
  return staged;
}
