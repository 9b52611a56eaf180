/** What stands in the form of a connection, and the requests that follow from it. Which fields there are, the gateway says. */
import type { Connection, ConnectionType } from '../../api/types.ts';

type LoginWith = 'password' | 'key' | 'pair';
type Value = string | boolean;

export interface Draft {
  readonly type: string;
  readonly id: string;
  readonly loginWith: LoginWith;
  /** What was typed or chosen, by the field's key; a change of the type keeps it. */
  readonly values: Readonly<Record<string, Value>>;
}

/** JSON Schema, as far as the gateway uses it for fields. */
interface Shape {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly default?: string | number | boolean | null;
  readonly maxLength?: number;
  readonly writeOnly?: boolean;
  readonly oneOf?: readonly { readonly const: string; readonly title: string }[];
  readonly properties?: Readonly<Record<string, Shape>>;
}

interface FormShape {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Shape>>;
  readonly examples?: readonly Readonly<Record<string, unknown>>[];
}

export interface FormField {
  readonly key: string;
  readonly name: string;
  /** Of a field that has parts, the one that this is. */
  readonly part?: string;
  readonly title: string;
  readonly shape: Shape;
  readonly kind: 'text' | 'number' | 'flag' | 'choice' | 'list';
  readonly example: string;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly isAdvanced: boolean;
  readonly isLong: boolean;
}

const KINDS = [
  ['boolean', 'flag'],
  ['integer', 'number'],
  ['array', 'list'],
] as const;
/** Switched on and off by a button, not by the form. */
const NOT_IN_FORM = 'isActive';
/** Fields that belong to one way of logging in. */
const OF_LOGIN: Readonly<Record<string, LoginWith>> = { privateKey: 'key', passphrase: 'key', keyPairId: 'pair' };

function allFields({ schema, advanced, multiline }: ConnectionType): readonly FormField[] {
  const { properties, required, examples: [example = {}] = [] } = schema as object as FormShape;
  const made = (name: string, shape: Shape, part?: string): FormField => {
    const { type = 'string', writeOnly = false, oneOf, title = name } = shape;
    const words = example[name];
    return {
      key: part === undefined ? name : `${name}.${part}`,
      name,
      shape,
      ...(part === undefined ? { title } : { part, title: wordsOf(part) }),
      kind: oneOf === undefined ? (KINDS.find(([of]) => type.includes(of))?.[1] ?? 'text') : 'choice',
      // Secrets stand in the configuration as variables.
      example: typeof words === 'string' && !words.includes('${') ? words : '',
      isRequired: required.includes(name),
      isSecret: writeOnly,
      isAdvanced: advanced.includes(name),
      isLong: multiline.includes(name),
    };
  };
  return Object.entries(properties)
    .filter(([name]) => name !== NOT_IN_FORM)
    .flatMap(([name, shape]) =>
      shape.properties === undefined
        ? [made(name, shape)]
        : Object.entries(shape.properties).map(([part, one]) => made(name, one, part)),
    );
}

/** Those that the other answers leave to ask. */
export function shownFields(type: ConnectionType, draft: Draft): readonly FormField[] {
  const fields = allFields(type);
  const isOff = (name: string, off: Value): boolean =>
    fields.some((field) => field.name === name && valueOf(field, draft) === off);
  return fields.filter(({ name }) => {
    if (name === 'tlsVerify') return !isOff('tls', 'none');
    if (name === 'tlsCa') return !isOff('tls', 'none') && !isOff('tlsVerify', false);
    return (OF_LOGIN[name] ?? draft.loginWith) === draft.loginWith;
  });
}

export function hasLogins(type: ConnectionType): boolean {
  return allFields(type).some(({ name }) => OF_LOGIN[name] !== undefined);
}

/** What was not answered is as the example has it (FTP with TLS), else as the gateway would take it. */
export function valueOf({ key, kind, shape, example }: FormField, { values }: Draft): Value {
  const standing = kind === 'flag' ? shape.default === true : kind === 'choice' ? example || String(shape.default) : '';
  return values[key] ?? standing;
}

export function textOf(field: FormField, draft: Draft): string {
  return String(valueOf(field, draft));
}

export function newDraft(types: readonly ConnectionType[]): Draft {
  return { type: types[0]?.type ?? '', id: '', loginWith: 'password', values: {} };
}

export function draftOf(connection: Connection, type: ConnectionType): Draft {
  const { id, keyPairId = null, secrets } = connection;
  const values = allFields(type).map((field) => [field.key, typed(storedIn(connection, field))] as const);
  return {
    type: connection.type,
    id,
    loginWith: keyPairId !== null ? 'pair' : secrets['privateKey'] === true ? 'key' : 'password',
    values: Object.fromEntries(values),
  };
}

function storedIn(connection: Connection, { name, part }: FormField): unknown {
  if (name === 'hostKeys' && connection.hostKeysLearned === true) return undefined;
  const stored = (connection as object as Readonly<Record<string, unknown>>)[name];
  return part === undefined ? stored : (stored as Readonly<Record<string, unknown>>)[part];
}

function typed(stored: unknown): Value {
  if (Array.isArray(stored)) return stored.join('\n');
  if (typeof stored === 'number') return String(stored);
  return typeof stored === 'boolean' || typeof stored === 'string' ? stored : '';
}

export function withPin(draft: Draft, fingerprint: string): Draft {
  const hostKeys = `${String(draft.values['hostKeys'] ?? '')}\n${fingerprint}`.trim();
  return { ...draft, values: { ...draft.values, hostKeys } };
}

export function isComplete(draft: Draft, type: ConnectionType): boolean {
  return allFields(type).every((field) => !field.isRequired || field.isSecret || textOf(field, draft).trim() !== '');
}

type ConnectionInput = Record<string, unknown>;

/** Everything the form says; secrets only where they were typed. */
export function inputOf(draft: Draft, type: ConnectionType, known: Connection | undefined): ConnectionInput {
  const id = draft.id.trim();
  const input: ConnectionInput = { type: draft.type, ...(id === '' ? {} : { id }) };
  for (const field of allFields(type)) {
    const { name, part } = field;
    const value = sentOf(field, draft, known);
    const former = input[name] ?? (known as object as ConnectionInput | undefined)?.[name];
    if (part !== undefined) input[name] = { ...(former as object | undefined), [part]: value };
    else if (value !== undefined) input[name] = value;
  }
  return input;
}

/** undefined = it is not spoken of. */
function sentOf(field: FormField, draft: Draft, known: Connection | undefined): unknown {
  const { name, kind, shape, isSecret } = field;
  const isOther = (OF_LOGIN[name] ?? draft.loginWith) !== draft.loginWith;
  if (isOther) return isSecret && known?.secrets[name] !== true ? undefined : null;
  const value = valueOf(field, draft);
  if (isSecret) return value === '' ? undefined : value;
  const text = String(value).trim();
  switch (kind) {
    case 'flag':
    case 'choice':
      return value;
    case 'number':
      return text === '' ? undefined : Number(text);
    case 'list':
      return text === '' && known?.hostKeysLearned === true ? undefined : text.split(/\s+/).filter(Boolean);
    case 'text':
      return text === '' ? (shape.default === undefined ? '' : shape.default) : text;
  }
}

/** The fields of an edit that differ from what is kept. */
export function changesOf(draft: Draft, type: ConnectionType, known: Connection): ConnectionInput {
  const before = inputOf(draftOf(known, type), type, known);
  const { id: _id, type: _type, ...after } = inputOf(draft, type, known);
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}

/** Whether the change goes to another server, to which this secret may not be sent. */
export function isLost({ name }: FormField, draft: Draft, type: ConnectionType, known: Connection): boolean {
  const changes = changesOf(draft, type, known);
  return type.sent.includes(name) && type.address.some((part) => part in changes);
}

/** `maxSessions` → "Max sessions". */
function wordsOf(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
