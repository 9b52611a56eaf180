/** Environment variables in the configuration: `${NAME}` inside the file, and the few that win over the file. */
import type { KeyPath } from './mistakes.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** These win over the file. Set but empty counts as not set. */
export const OVERRIDES: readonly { readonly variable: string; readonly path: KeyPath }[] = [
  { variable: 'HOST', path: ['server', 'host'] },
  { variable: 'PORT', path: ['server', 'port'] },
  { variable: 'GATEWAY_DATA_DIR', path: ['dataDir'] },
  { variable: 'DATABASE_URL', path: ['database', 'url'] },
  { variable: 'SMTP_URL', path: ['mail', 'url'] },
  { variable: 'LOG_LEVEL', path: ['log', 'level'] },
];

/** The master key has no place in a file: with the database beside it, it would protect nothing. */
export const MASTER_KEY_VARIABLE = 'GATEWAY_MASTER_KEY';

type Expansion = { readonly text: string } | { readonly unset: readonly string[] } | { readonly malformed: true };

/** `$${` (an escape), `${NAME}` or `${NAME:-default}`, and last a `${` that is none of them. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g;

/** Whether `expand` would change the text. */
export function hasReference(text: string): boolean {
  return text.includes('${');
}

/** Puts variables in. A default stands in for a variable that is unset or empty, as in a shell. */
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

/** Whether the text is one reference and nothing else, so that its value may become a number or a boolean. */
export function isOneReference(text: string): boolean {
  return /^\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}$/.test(text);
}

/** Whether the text is one reference without a default: nothing of a value shows in it. */
export function isBareReference(text: string): boolean {
  return /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text);
}
