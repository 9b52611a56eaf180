/** Every endpoint of the API for programs. */
import { verifyKey } from './account/me.js';
import type { Endpoint } from './endpoint.js';
import { findFile } from './files/exists.js';
import { makeFolder } from './files/mkdir.js';
import type { ApiServices } from './services.js';

export const endpoints: readonly Endpoint<ApiServices>[] = [makeFolder, findFile, verifyKey];
