/** Makes a release in dist/packages: `npm run pack`. */
import { join } from 'node:path';
import { ROOT } from './places.js';
import { makeRelease } from './release.js';

const made = await makeRelease(join(ROOT, 'dist/packages'));
const kB = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;
for (const { filename, entryCount, size, unpackedSize } of Object.values(made)) {
  console.log(`${filename}: ${entryCount} files, ${kB(size)}, unpacked ${kB(unpackedSize)}`);
}
