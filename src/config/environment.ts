/** Environment variables in the configuration: `${NAME}` in the file, and the few that override the file. */
import type { KeyPath } from './mistakes.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** These override the file. An empty value counts as unset. */
export const OVERRIDES: readonly { readonly variable: string; readonly path: KeyPath }[] = [
  { variable: 'HOST', path: ['server', 'host'] },
  { variable: 'PORT', path: ['server', 'port'] },
  { variable: 'GATEWAY_DATA_DIR', path: ['dataDir'] },
  { variable: 'DATABASE_URL', path: ['database', 'url'] },
  { variable: 'GATEWAY_PROXY_URL', path: ['network', 'proxy', 'url'] },
  { variable: 'SMTP_URL', path: ['mail', 'url'] },
  { variable: 'LOG_LEVEL', path: ['log', 'level'] },
];

/** The master key is not allowed in a file: with the database beside it, it would protect nothing. */
export const MASTER_KEY_VARIABLE = 'GATEWAY_MASTER_KEY';

type Expansion = { readonly text: string } | { readonly unset: readonly string[] } | { readonly malformed: true };

/** `$${` (an escape), `${NAME}` or `${NAME:-default}`, and last a malformed `${`. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g;

/** Whether `expand` would change the text. */
export function hasReference(text: string): boolean {
  return text.includes('${');
}

/** Expands variables. A default replaces a variable that is unset or empty, as in a shell. */
export function expand(text: string, environment: Environment): Expansion {
  const unset: string[] = [];
  let isMalformed = false;
  const expanded = text.replace(REFERENCE, (match: string, name?: string, fallback?: string) => {
    if (match === '$${') return '${';
    if (name === undefined || fallback?.includes('${') === true) {
      isMalformed = true;
      return '';
    }
    const value = environment[name];
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value === undefined) unset.push(name);
    return value ?? '';
  });
  if (isMalformed) return { malformed: true };
  return unset.length > 0 ? { unset } : { text: expanded };
}

/** Whether the text is a single reference, so that its value may become a number or a boolean. */
export function isOneReference(text: string): boolean {
  return /^\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}$/.test(text);
}

/** Whether the text is a single reference without a default: it shows nothing of the value. */
export function isBareReference(text: string): boolean {
  return /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text);
}
