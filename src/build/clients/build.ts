/** A program: makes the types of the clients, and both halves of the Python client. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../root.js';
import { ASYNC, PYTHON_SOURCES, SYNC, twinsIn } from './files.js';
import { textsOfClients } from './texts.js';

/** An unchanged file is not written: `npm run dev` builds again on every change of src. */
function write(file: string, text: string): void {
  const path = join(ROOT, file);
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
}

for (const [file, text] of Object.entries(textsOfClients())) write(file, text);

const sources = twinsIn(PYTHON_SOURCES);
for (const half of [ASYNC, SYNC])
  for (const name of twinsIn(half)) if (!sources.includes(name)) rmSync(join(ROOT, half, name));
