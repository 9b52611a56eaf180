import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../base/package-root.js';

/** The root folder of the project. */
export const ROOT = fileURLToPath(PACKAGE_ROOT);
