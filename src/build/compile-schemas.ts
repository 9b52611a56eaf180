/** A program: makes dist/validators. */
import { compileSchemas, knownSchemas } from './validators.js';

await compileSchemas(await knownSchemas());
