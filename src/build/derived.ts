/**
 * Bundles modules of src/contract/derived as their exported values: a page loads a list of codes instead of the
 * catalogue.
 */
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { ROOT } from './root.js';

export const derived: Plugin = {
  name: 'derived',
  setup: (building) => {
    building.onLoad({ filter: /[\\/]src[\\/]contract[\\/]derived[\\/][^\\/]+\.ts$/ }, async ({ path }) => {
      const module = `${ROOT}/dist/${relative(ROOT, path).replace(/\.ts$/, '.js')}`;
      const values = Object.entries((await import(pathToFileURL(module).href)) as Readonly<Record<string, unknown>>);
      const lines = values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
      return { contents: lines.join('\n'), loader: 'js' };
    });
  },
};
