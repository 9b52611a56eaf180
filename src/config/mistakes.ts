/** Reports of mistakes in the configuration: the place, the value found, the allowed values. Never with a secret. */
import { isSecretName, maskSecrets } from './secrecy.js';

/** Keys and list positions from the top of the configuration down. */
export type KeyPath = readonly (string | number)[];

export interface Mistake {
  /** `accounts[0].connections[1].port` */
  readonly path: string;
  /** A description of the value, without secrets. */
  readonly found: string;
  readonly allowed: string;
  /** The place: file, line and column, or the environment variable. */
  readonly place: string | undefined;
}

/** The configuration cannot be used. `message` has one line for each mistake. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(lineOf).join('\n'));
    this.mistakes = mistakes;
  }
}

function lineOf({ path, found, allowed, place }: Mistake): string {
  return `${path}: ${found}; allowed: ${allowed}${place === undefined ? '' : ` (${place})`}`;
}

/** `limits.plans.free`, `accounts[0].email`, `pools.hosts["sftp.example.com:22"]`. */
export function pathText(path: KeyPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${quoted(part)}]`;
  }
  return text === '' ? 'the file' : text;
}

/** A description of the value at `path` for a report: only its type if the key contains a secret. */
export function foundText(path: KeyPath, value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (holdsSecret(path)) return `a ${typeof value === 'string' ? 'text' : typeof value} that is not shown here`;
  if (typeof value === 'string') return holdsUrl(path) ? urlText(value) : quoted(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeof value;
}

function holdsUrl(path: KeyPath): boolean {
  return /url$|^endpoint$/i.test(String(path.at(-1)));
}

/** Only protocol and host: passwords may also be in the query of a URL, or anywhere in a text that is no URL. */
function urlText(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && url.host !== '') return quoted(`${url.protocol}//${url.host}/…`);
  return text.includes('@') ? 'a text that is not shown here' : quoted(text);
}

/** Whether the key itself, the list with the value, or the mapping of a reference has the name of a secret. */
export function holdsSecret(path: KeyPath): boolean {
  const name = path.filter((part) => typeof part === 'string').findLast((part) => part !== 'from');
  return name !== undefined && isSecretName(name);
}

const MAX_SHOWN = 80;

/** On one line, in quotes, truncated if long; masked first, so that no cut hides the form of a secret. */
export function quoted(text: string): string {
  const masked = maskSecrets(text);
  return JSON.stringify(masked.length > MAX_SHOWN ? `${masked.slice(0, MAX_SHOWN)}…` : masked);
}
