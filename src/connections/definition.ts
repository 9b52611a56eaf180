/**
 * How a type of connection is defined, once. From a definition follow the types (connection.ts), the schemas of gateway.yaml,
 * of the API and of forms (schemas.ts), rows and sealed secrets (storage) and which names are never logged.
 */
import type { TSchema } from 'typebox';
import { type Admitted, text } from '../contract/schema.js';
import type { GatewayError } from '../base/errors.js';
import type { AnnouncedKey } from './host-keys.js';
import type { Excess } from './private-key-bounds.js';

interface Words {
  /** Its label in a form. */
  readonly title: string;
  /** What it is: shown by the API's description, the documentation, help and hints. */
  readonly words: string;
  /** For few: a form shows it among others of that kind. */
  readonly isAdvanced?: boolean;
  /** Text of several lines. */
  readonly isLong?: boolean;
}

/** A public field. Its value is of type T; gateway.yaml may have it under a key K of its own. */
export interface Setting<T = unknown, K extends string = string> extends Words {
  /** `description` says what is allowed. Lengths are bounded in the API alone; a `format` is one of base/formats.ts. */
  readonly schema: TSchema;
  /** undefined = it must be given; null = it may be absent. */
  readonly default: T | undefined;
  /** Of gateway.yaml, where it is not `schema`. */
  readonly fileSchema?: TSchema;
  /** Of the API, where it is not `schema`. */
  readonly apiSchema?: object;
  /** The key in gateway.yaml that names a file which holds it. */
  readonly fileKey?: K;
  /** Always its default: gateway.yaml may say so, the API does not ask. */
  readonly isFixed?: boolean;
  /** Whoever changes it leads a stored login neither to another server nor beyond its root. */
  readonly isHarmless?: boolean;
  /** Of a choice: what each value is called in a form. */
  readonly labels?: Readonly<Record<string, string>>;
  /** What a value of the schema's `format` is, for who breaks it in the API. */
  readonly formatWords?: string;
  /** Why a text is refused that fits the schema. */
  readonly refusal?: (value: string) => string | undefined;
  normalise?(value: T): T;
}

/** A field that is sealed and never shown. */
export interface Secret<R extends boolean = boolean, K extends string = string> extends Words {
  readonly isRequired: R;
  readonly maxLength: number;
  readonly fileSchema: TSchema;
  /** A key in gateway.yaml, beside its own, that names a file which holds it. */
  readonly fileKey?: K;
  /** The server itself gets to see it: another server must not. */
  readonly isSent?: boolean;
  /** What of it asks for too much work. */
  readonly excess?: (value: string) => Excess | undefined;
}

interface Capabilities {
  /** Runs commands. */
  readonly exec: boolean;
  /** Adds to the end of a file. */
  readonly append: boolean;
  /** The server proves itself with a host key, which is pinned. */
  readonly hostKeys: boolean;
  /** Names may be bytes that are no UTF-8. */
  readonly rawNames: boolean;
  /** There is no login, only signed requests; folders are parts of keys and go with the last file in them. */
  readonly isObjectStore: boolean;
}

/** What is wrong in gateway.yaml, at a key of the connection. */
export interface FileMistake {
  readonly key: string;
  readonly found: string;
  readonly allowed: string;
}

type Settings = Readonly<Record<string, Setting>>;
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
  /** An entry in gateway.yaml: its id, and all that is not there by default. */
  readonly example: Values;
  readonly settings: S;
  readonly secrets: X;
  /** The settings that name the server which learned host keys and sent secrets belong to. */
  readonly address: readonly string[];
  readonly can: C;
  /** What to do about an error of this protocol, where there is more to say than of any. */
  readonly advice?: (error: Pick<GatewayError, 'code' | 'step'>) => string | undefined;
  /** Whether the server proves itself with a certificate. */
  readonly hasCertificate: (settings: Values) => boolean;
  /** What of an entry in gateway.yaml no schema can say. */
  readonly mistakes?: (entry: Values) => readonly FileMistake[];
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

type About<T> = Words & Partial<Omit<Setting<T>, keyof Words | 'schema' | 'fileKey' | 'default'>>;

/** Without a default it must be given. */
export function setting<S extends TSchema>(
  schema: S,
  about: About<Admitted<S>> & { readonly default?: Admitted<S> },
): Setting<Admitted<S>> {
  return { schema, default: undefined, ...about };
}

/** A setting that may be absent (null in the API and in rows). */
export function optionalSetting<S extends TSchema, const K extends string = string>(
  schema: S,
  about: About<Admitted<S> | null> & { readonly fileKey?: K },
): Setting<Admitted<S> | null, K> {
  return { schema, default: null, ...about };
}

/** A setting that has one value and no other. */
export function fixedSetting<T>(value: T, schema: TSchema, about: About<T>): Setting<T> {
  return { schema, default: value, isFixed: true, isHarmless: true, ...about };
}

const SECRET = { isRequired: false, maxLength: 1024, fileSchema: text('text (numbers in quotes)') } as const;
type AboutSecret = Words & Partial<Omit<Secret, keyof Words | 'isRequired' | 'fileKey'>>;

export function secret<const K extends string = string>(
  about: AboutSecret & { readonly fileKey?: K },
): Secret<false, K> {
  return { ...SECRET, ...about };
}

export function requiredSecret(about: AboutSecret): Secret<true> {
  return { ...SECRET, ...about, isRequired: true };
}

/** Host and port that learned host keys belong to, and secrets that are sent; "" where there are none to learn. */
export function addressOf({ address }: Definition, settings: Values): string {
  return address.map((name) => String(settings[name]).toLowerCase()).join(':');
}

/* What follows from a definition D, as types. */
type ValueOf<S> = S extends Setting<infer T> ? T : never;
type NullableNames<S> = { [N in keyof S]: null extends ValueOf<S[N]> ? N : never }[keyof S];
type KeyOf<N, S> = S extends { readonly fileKey?: infer K } ? (string extends K ? N : NonNullable<K>) & string : never;
type FileKeyOf<X> = X extends { readonly fileKey?: infer K }
  ? (string extends K ? never : NonNullable<K>) & string
  : never;

/** As rows hold them. */
export type SettingsOf<D extends Definition> = { readonly [N in keyof D['settings']]: ValueOf<D['settings'][N]> };

/** Every setting that has a value by default. The others are given beside them. */
export function defaultSettings<D extends Definition>({
  settings,
}: D): Omit<SettingsOf<D>, NullableNames<D['settings']>> {
  const usual = Object.entries(settings).map(([name, { default: value }]) => [name, value] as const);
  return Object.fromEntries(usual.filter(([, value]) => value !== null && value !== undefined)) as SettingsOf<D>;
}

interface HostKeys {
  /** Trusted ones. */
  readonly hostKeys: readonly string[];
  /** Among them those that are trusted; the others wait, or are rejected. */
  readonly announcedKeys?: readonly AnnouncedKey[];
}

/** As protocols take them. */
export type ConnectionOf<D extends Definition> = Flat<
  { readonly type: D['type'] } & {
    readonly [N in keyof D['settings']]: null extends ValueOf<D['settings'][N]>
      ? Exclude<ValueOf<D['settings'][N]>, null> | undefined
      : ValueOf<D['settings'][N]>;
  } & {
    readonly [N in keyof D['secrets']]: D['secrets'][N] extends Secret<true> ? string : string | undefined;
  } & (D['can'] extends { readonly hostKeys: true } ? HostKeys : unknown)
>;

/** As gateway.yaml has them. */
export type FileEntryOf<D extends Definition> = Flat<
  { readonly type: D['type']; readonly id?: string; readonly name: string; readonly isActive: boolean } & {
    readonly [N in Exclude<keyof D['settings'], NullableNames<D['settings']>> as KeyOf<N, D['settings'][N]>]: ValueOf<
      D['settings'][N]
    >;
  } & {
    readonly [N in NullableNames<D['settings']> as KeyOf<N, D['settings'][N]>]?: Exclude<
      ValueOf<D['settings'][N]>,
      null
    >;
  } & {
    readonly [N in keyof D['secrets'] as D['secrets'][N] extends Secret<true> ? N : never]: string;
  } & {
    readonly [N in keyof D['secrets'] as D['secrets'][N] extends Secret<true> ? never : N]?: string;
  } & { readonly [K in FileKeyOf<D['secrets'][keyof D['secrets']]>]?: string } & (D['can'] extends {
      readonly hostKeys: true;
    }
      ? { readonly hostKey?: string | readonly string[] }
      : unknown)
>;

type Flat<T> = { readonly [N in keyof T]: T[N] };
