/** Converts a connection into rows (public settings and, separately, secrets) and back. */
import { readFile } from 'node:fs/promises';
import type { ConnectionConfig } from '../../config/schema.js';
import type { Digests } from '../../contract/connection/fields.js';
import { refusalOf } from '../../connections/checks.js';
import type { Connection, References, SecretValues, Settings } from '../../connections/connection.js';
import { type Definition, type Values, withOwnSecrets } from '../../contract/connection/definition.js';
import type { AnnouncedKey } from '../../connections/host-keys.js';
import { referenceIn } from '../../contract/connection/reference.js';
import { definitionOf } from '../../contract/connection/types.js';
import { hidden, type RowOf } from '../../contract/thing.js';
import { StartupError } from '../startup.js';

/** The columns of a connection that is opened. */
export const openedFields = {
  id: hidden<string>(),
  accountId: hidden<string>(),
  name: hidden<string>(),
  type: hidden<Connection['type']>(),
  isActive: hidden<boolean>(),
  settings: hidden<Settings>(),
  /** Where secrets are read that are not stored. */
  secretReferences: hidden<References>(),
  hostKeys: hidden<readonly string[]>(),
  configured: hidden<boolean>(),
  secretsConfigured: hidden<boolean>(),
};

/** With columns of its account, and of its announced keys. */
export interface ConnectionRow extends RowOf<typeof openedFields> {
  /** The announced host keys; null = none. */
  readonly announcedKeys?: readonly (Omit<AnnouncedKey, 'lastSeenAt'> & { readonly lastSeenAt: string })[] | null;
  /** The account's setting; null = the general setting of the configuration applies. */
  readonly allowPrivate: boolean | null;
  /** The account's setting. */
  readonly digests?: Digests;
}

/** Splits a configured connection; reads its key and certificate files. StartupError if one is unreadable. */
export async function splitConfig(
  config: ConnectionConfig,
  definition: Definition = definitionOf(config),
): Promise<{ settings: Settings; secrets: SecretValues; references: References }> {
  const { settings, secrets } = definition;
  const entry = withOwnSecrets<Values>({ ...config }, definition);
  const inFile = (key: string | undefined): Promise<string | undefined> =>
    readNamedFile(config, key, key === undefined ? undefined : entry[key]);
  const textOf = async (name: string, key: string | undefined): Promise<unknown> =>
    entry[name] === undefined || entry[name] === '' ? inFile(key) : entry[name];
  const rows: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const { key, isChecked = false } = setting.file ?? {};
    const value =
      setting.isFixed === true ? setting.default : key === undefined ? entry[name] : await textOf(name, key);
    const refused = isChecked ? refusalOf(setting.check, value) : undefined;
    if (refused !== undefined) {
      throw new StartupError(`connection "${config.name}": ${key ?? name} ${refused}`);
    }
    rows[name] = storedValue(setting, value);
  }
  const values: Record<string, string> = {};
  const references: Record<string, string> = {};
  for (const [name, { file }] of Object.entries(secrets)) {
    const value = await textOf(name, file?.key);
    const reference = referenceIn(value);
    if (reference !== undefined) references[name] = reference;
    else if (typeof value === 'string' && value !== '') values[name] = value;
  }
  return { settings: rows as unknown as Settings, secrets: values, references };
}

/** The settings of a valid input of this type, with defaults; those that only gateway.yaml sets have theirs. */
export function settingsOf(input: Values, { settings }: Definition): Settings {
  const rows = Object.entries(settings).map(([name, setting]) => [
    name,
    setting.isFixed === true || setting.isFileOnly === true ? setting.default : storedValue(setting, input[name]),
  ]);
  return Object.fromEntries(rows) as Settings;
}

/** Stored settings; those that are newer than the row have their defaults. */
export function completeSettings(stored: Settings, { settings }: Definition): Settings {
  const values: Values = { ...stored };
  const complete = Object.entries(settings).map(([name, setting]) => {
    const value = values[name] === undefined ? setting.default : values[name];
    return [name, value] as const;
  });
  return Object.fromEntries(complete) as object as Settings;
}

/** Joins a row and its opened secrets. */
export function joinConnection(
  row: ConnectionRow,
  secrets: SecretValues,
  definition: Definition = definitionOf(row),
): Connection {
  const opened: Values = { ...secrets };
  const { secretReferences: references } = row;
  const settings = Object.entries(completeSettings(row.settings, definition)).map(
    ([name, value]) => [name, value ?? undefined] as const,
  );
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
    hasConfiguredSecrets: row.secretsConfigured,
    allowPrivate: row.allowPrivate ?? undefined,
    ...Object.fromEntries([...settings, ...values]),
    ...(Object.keys(references).length === 0 ? {} : { references }),
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
