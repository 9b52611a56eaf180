/** A program: makes the types of the clients, and the synchronous half of the Python client. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../root.js';
import { ASYNC, SYNC, twinsIn } from './files.js';
import { twinOf } from './python-twin.js';
import { textsOfContract } from './texts.js';

/** An unchanged file is not written: `npm run dev` builds again on every change of src. */
function write(file: string, text: string): void {
  const path = join(ROOT, file);
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
}

for (const [file, text] of Object.entries(textsOfContract())) write(file, text);

const sources = twinsIn(ASYNC);
for (const name of sources) write(`${SYNC}/${name}`, twinOf(name, readFileSync(join(ROOT, ASYNC, name), 'utf8')));
for (const name of twinsIn(SYNC)) if (!sources.includes(name)) rmSync(join(ROOT, SYNC, name));
