/** A program: writes the example file to the place for users. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleFile } from '../config/example.js';
import { ROOT } from './root.js';

writeFileSync(join(ROOT, 'config/gateway.example.yaml'), exampleFile());
