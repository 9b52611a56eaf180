/** A connection as rows (public settings, secrets apart) and back. */
import { readFile } from 'node:fs/promises';
import type { ConnectionConfig } from '../../config/schema.js';
import type { Digests } from '../../contract/connection/fields.js';
import type { Connection, SecretValues, Settings } from '../../connections/connection.js';
import type { Definition, Values } from '../../contract/connection/definition.js';
import type { AnnouncedKey } from '../../connections/host-keys.js';
import { definitionOf } from '../../contract/connection/types.js';
import { StartupError } from '../startup.js';

/** What `connections` holds of one. */
export interface ConnectionRow {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly type: Connection['type'];
  readonly isActive: boolean;
  readonly settings: Settings;
  readonly hostKeys: readonly string[];
  /** Of announced ones; null = none. */
  readonly announcedKeys?: readonly (Omit<AnnouncedKey, 'lastSeenAt'> & { readonly lastSeenAt: string })[] | null;
  readonly configured: boolean;
  /** Of the account; null = as the configuration says for all. */
  readonly allowPrivate: boolean | null;
  /** Of the account. */
  readonly digests?: Digests;
}

/** Splits a configured connection; reads the key and certificate files it names. StartupError when one is unreadable. */
export async function splitConfig(
  config: ConnectionConfig,
  { settings, secrets }: Definition = definitionOf(config),
): Promise<{ settings: Settings; secrets: SecretValues }> {
  const entry: Values = { ...config };
  const inFile = (key: string | undefined): Promise<string | undefined> =>
    readNamedFile(config, key, key === undefined ? undefined : entry[key]);
  const rows: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const key = setting.file?.key;
    const value = setting.isFixed === true ? setting.default : key === undefined ? entry[name] : await inFile(key);
    rows[name] = storedValue(setting, value);
  }
  const values: Record<string, string> = {};
  for (const [name, { file }] of Object.entries(secrets)) {
    const value = entry[name] === undefined || entry[name] === '' ? await inFile(file?.key) : entry[name];
    if (typeof value === 'string' && value !== '') values[name] = value;
  }
  return { settings: rows as unknown as Settings, secrets: values };
}

/** The settings of an input that the schema of its type has let through, its defaults filled in. */
export function settingsOf(input: Values, { settings }: Definition): Settings {
  const rows = Object.entries(settings).map(([name, setting]) => [
    name,
    setting.isFixed === true ? setting.default : storedValue(setting, input[name]),
  ]);
  return Object.fromEntries(rows) as Settings;
}

/** Puts row and opened secrets together again. */
export function joinConnection(
  row: ConnectionRow,
  secrets: SecretValues,
  definition: Definition = definitionOf(row),
): Connection {
  const stored: Values = { ...row.settings };
  const opened: Values = { ...secrets };
  const settings = Object.entries(definition.settings).map(([name, setting]) => {
    // A row that was written before the setting was known has its default.
    const value = stored[name] === undefined ? setting.default : stored[name];
    return [name, value ?? undefined] as const;
  });
  const values = Object.entries(definition.secrets).map(
    ([name, { isNeeded }]) => [name, opened[name] ?? (isNeeded === true ? '' : undefined)] as const,
  );
  return {
    id: row.id,
    accountId: row.accountId,
    name: row.name,
    type: row.type,
    isActive: row.isActive,
    isConfigured: row.configured,
    allowPrivate: row.allowPrivate ?? undefined,
    ...Object.fromEntries([...settings, ...values]),
    ...(row.digests === 'always' ? { digests: 'always' } : {}),
    ...(definition.can.hostKeys ? { hostKeys: row.hostKeys, announcedKeys: announcedOf(row) } : {}),
  } as unknown as Connection;
}

function announcedOf({ announcedKeys: keys }: ConnectionRow): readonly AnnouncedKey[] {
  return (keys ?? []).map((key) => ({ ...key, lastSeenAt: new Date(key.lastSeenAt) }));
}

function storedValue(setting: Definition['settings'][string], value: unknown): unknown {
  if (setting.default === null && (value === undefined || value === '')) return null;
  return setting.keep?.(value) ?? value;
}

async function readNamedFile(
  config: ConnectionConfig,
  key: string | undefined,
  file: unknown,
): Promise<string | undefined> {
  if (key === undefined || typeof file !== 'string' || file === '') return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new StartupError(`connection "${config.name}": ${key} ${file} cannot be read`);
  }
}
