import { readSecretFile } from './secret-file.js';
import { unreadable } from './unreadable.js';
import type { ReadSecret } from './referenced-secrets.js';

/** Reads secrets from where their references lead, by what stands before the first colon. */
export function createSecretReader(): ReadSecret {
  return async (reference) => {
    const colon = reference.indexOf(':');
    const [source, place] = [reference.slice(0, colon), reference.slice(colon + 1)];
    if (source === 'file') return readSecretFile(place);
    throw unreadable(`names no known source: ${source}`);
  };
}
