import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  scripts: { start: string };
};

/** What `npm start` gives to Node.js before the program: whatever starts a gateway does so in the same way. */
export const START_ARGS: readonly string[] = manifest.scripts.start.split(' ').slice(2, -1);
