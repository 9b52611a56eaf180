/**
 * The definition of a type of connection. Its TypeScript types, the schemas of gateway.yaml, of requests and of
 * answers, forms and options (schemas.ts), rows and sealed secrets (storage), and the names that are never logged are
 * derived from it.
 */
import type { AdviceCode } from '../advice.js';
import type { ErrorCode } from '../errors.js';
import type { Given, Secret, SettingsOf } from '../thing.js';

interface Capabilities {
  /** Runs commands. */
  readonly exec: boolean;
  /** Adds to the end of a file. */
  readonly append: boolean;
  /** The server has a host key, which is pinned. */
  readonly hostKeys: boolean;
  /** Names may be bytes that are not UTF-8. */
  readonly rawNames: boolean;
  /** There is no login, only signed requests; folders are parts of keys and disappear with their last file. */
  readonly isObjectStore: boolean;
}

/** A mistake in gateway.yaml, at a key of the connection: `proxy`, or a part of it: `proxy.url`. */
export interface FileMistake {
  readonly key: string;
  readonly found: string;
  readonly allowed: string;
}

type Settings = Readonly<Record<string, Given>>;
type Secrets = Readonly<Record<string, Secret>>;
export type Values = Readonly<Record<string, unknown>>;

export interface Definition<
  T extends string = string,
  S extends Settings = Settings,
  X extends Secrets = Secrets,
  C extends Capabilities = Capabilities,
> {
  readonly type: T;
  readonly title: string;
  /** An entry in gateway.yaml: its id, and all values that differ from the defaults. */
  readonly example: Values;
  readonly settings: S;
  readonly secrets: X;
  /** The settings that identify the server to which learned host keys and sent secrets belong. */
  readonly address: readonly string[];
  readonly can: C;
  /** Advice for an error that is specific to this protocol. */
  readonly advice?: (error: { readonly code: ErrorCode; readonly step?: string | undefined }) => AdviceCode | undefined;
  /** Whether the server has a certificate. */
  readonly hasCertificate: (settings: Values) => boolean;
  /** Rules for an entry in gateway.yaml that no schema can express. */
  readonly mistakes?: (entry: Values) => readonly FileMistake[];
  /**
   * Fields that contradict each other, in gateway.yaml and in requests. Secrets have their own names; `kept` names those
   * that are stored and that the request does not change.
   */
  readonly conflicts?: (values: Values, kept: readonly string[]) => readonly FileMistake[];
}

export function connectionType<
  const T extends string,
  S extends Settings,
  X extends Secrets,
  const C extends Capabilities,
>(
  type: T,
  definition: Omit<Definition<T, S, X, C>, 'type'> & { readonly address: readonly (keyof S & string)[] },
): Definition<T, S, X, C> {
  return { type, ...definition };
}

/** Host, port and proxy to which learned host keys and sent secrets belong; "" if there are none. */
export function addressOf({ address }: Pick<Definition, 'address'>, settings: Values): string {
  return address.map((name) => addressIn(settings[name])).join(' ');
}

/** The settings that say which server receives a stored secret, and by which way; none if no server sees it. */
export function addressFor(
  { address, secrets }: Pick<Definition, 'address' | 'secrets'>,
  name: string,
): readonly string[] {
  const { isSent = false, partOf } = secrets[name] ?? {};
  if (!isSent) return [];
  return partOf === undefined ? address : (partOf.address ?? [partOf.setting]);
}

/** The address in a setting: its text, or its URL. */
function addressIn(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value).toLowerCase();
  return typeof value === 'object' && value !== null && 'url' in value ? addressIn(value.url) : '';
}

/** The same input, in which secrets that are parts of a setting have their own names. */
export function withOwnSecrets<V extends Values>(input: V, { secrets }: Definition): V {
  const own = Object.entries(secrets).flatMap(([name, { partOf }]) => {
    if (partOf === undefined) return [];
    const setting = input[partOf.setting];
    if (setting === undefined) return [];
    const value = setting === null ? undefined : (setting as Values)[partOf.part];
    if (value !== undefined) return [[name, value] as const];
    // A setting without such a part takes the stored one away.
    const hasPart = setting !== null && (partOf.isIn?.(setting) ?? true);
    return hasPart ? [] : [[name, null] as const];
  });
  return { ...input, ...Object.fromEntries(own) };
}

export type StoredSettings<D extends Definition> = SettingsOf<D['settings']>;
export type NullableNames<S> = { [N in keyof S]: null extends S[N] ? N : never }[keyof S];

/** Every setting with a default value; the caller adds the others. */
export function defaultSettings<D extends Definition>({
  settings,
}: D): Omit<StoredSettings<D>, NullableNames<StoredSettings<D>>> {
  const usual = Object.entries(settings).map(([name, { default: value }]) => [name, value] as const);
  const given = usual.filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given) as object as StoredSettings<D>;
}

/** A connection in the form for its protocol, without host keys. */
export type ConnectionOf<D extends Definition> = {
  readonly type: D['type'];
} & {
  readonly [N in keyof StoredSettings<D>]: null extends StoredSettings<D>[N]
    ? Exclude<StoredSettings<D>[N], null> | undefined
    : StoredSettings<D>[N];
} & {
  readonly [N in keyof D['secrets']]: D['secrets'][N] extends Secret<true> ? string : string | undefined;
};
