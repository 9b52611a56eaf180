/** The TypeScript client as one module, for Node.js and browsers. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { derived } from '../build/derived.js';
import { ROOT } from './places.js';

export async function bundleClient({ minify = false } = {}): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'src/client/index.ts')],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    minify,
    plugins: [derived],
    write: false,
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}
