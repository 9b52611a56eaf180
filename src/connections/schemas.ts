/** The fields and schemas that follow from a definition: of gateway.yaml, of the API's bodies and answers, of forms and help. */
import type { Static, TSchema } from 'typebox';
import { SLUG } from '../contract/patterns.js';
import { described, fixed, mapping, object, oneOf, optional, text, withDefault } from '../contract/schema.js';
import { columns, fingerprint, hostKeyInFile, slug } from './common.js';
import type { Connection } from './connection.js';
import type { Definition, Secret, Setting, Values } from './definition.js';
import { MAX_HOST_KEYS } from './host-keys.js';
import { CONNECTION_TYPES } from './types.js';

type Schema = Readonly<Record<string, unknown>>;

/** A field that the API takes. */
export interface Field {
  readonly name: string;
  /** Its label. */
  readonly title: string;
  /** What it is, for those who type it: null is left empty there. */
  readonly hint: string;
  /** As the API checks it; `description` says what it is, `default` what stands when it is absent. */
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** For few. */
  readonly isAdvanced: boolean;
  /** A change of it leads a stored login nowhere else. */
  readonly isHarmless: boolean;
  /** Of a choice: what each value is called. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Text of several lines. */
  readonly isLong?: boolean | undefined;
}

/** In the order of forms and help. */
export function fieldsOf({ settings, secrets, can }: Definition): readonly Field[] {
  const own = Object.entries({ ...columns, ...settings }).flatMap(([name, setting]) =>
    setting.isFixed === true ? [] : [settingField(name, setting)],
  );
  const inForms = (isLate: boolean) => own.filter((field) => !field.isAdvanced && field.isHarmless === isLate);
  return [
    ...inForms(false),
    ...Object.entries(secrets).map(([name, secret]) => secretField(name, secret)),
    ...(can.hostKeys ? HOST_KEY_FIELDS : []),
    ...inForms(true),
    ...own.filter(({ isAdvanced }) => isAdvanced),
  ];
}

export function settingField(name: string, setting: Setting): Field {
  const { title, words, labels, isLong, isAdvanced = false, isHarmless = false } = setting;
  const { format: _format, description: _allowed, ...schema } = (setting.apiSchema ?? setting.schema) as Schema;
  const type = setting.default === null ? { type: [schema['type'], 'null'] } : {};
  const preset = setting.default === undefined ? {} : { default: setting.default };
  return {
    name,
    title,
    hint: hintOf(words),
    labels,
    isLong,
    isAdvanced,
    isHarmless,
    isRequired: setting.default === undefined,
    isSecret: false,
    schema: { ...schema, ...type, ...preset, description: words },
  };
}

function secretField(name: string, { title, words, maxLength, isRequired, isLong }: Secret): Field {
  const description = `${words} Written, never shown${isRequired ? '' : '; null takes it away'}.`.trimStart();
  const schema = { type: ['string', 'null'], minLength: 1, maxLength, description };
  const hint = hintOf(words);
  return { name, title, hint, schema, isRequired, isLong, isSecret: true, isAdvanced: false, isHarmless: false };
}

function hintOf(words: string): string {
  return words.replaceAll('`', '').replaceAll('null =', 'empty =');
}

const KEY_PAIR = 'A key pair of the gateway, in place of a private key.';
const HOST_KEYS = 'Pinned fingerprints; with none, the first one shown is trusted and pinned.';

const HOST_KEY_FIELDS: readonly Field[] = [
  {
    name: 'keyPairId',
    title: 'Generated key pair',
    hint: KEY_PAIR,
    schema: { type: ['string', 'null'], maxLength: 36, default: null, description: KEY_PAIR },
    isRequired: false,
    isSecret: false,
    isAdvanced: false,
    isHarmless: false,
  },
  {
    name: 'hostKeys',
    title: 'Host key fingerprints',
    hint: HOST_KEYS,
    schema: { type: 'array', items: fingerprint, maxItems: MAX_HOST_KEYS, uniqueItems: true, description: HOST_KEYS },
    isRequired: false,
    isSecret: false,
    isAdvanced: false,
    isHarmless: false,
  },
];

/** An entry under accounts[].connections of gateway.yaml. */
export function entrySchema(definition: Definition): TSchema {
  const keys = keysOf(definition).map(({ key, schema }) => [key, schema] as const);
  return mapping(Object.fromEntries(keys) as Record<string, TSchema>);
}

/** The keys of such an entry, each with an example and its words. */
interface Key {
  readonly key: string;
  readonly schema: TSchema;
  readonly words: string;
  readonly example: unknown;
}

export function keysOf({ type, settings, secrets, can, example }: Definition): readonly Key[] {
  const keys: Omit<Key, 'example'>[] = [
    { key: 'id', schema: optional(slug), words: 'Lower-case letters, digits, - and _; generated when absent.' },
    ...Object.entries(columns).map(([name, setting]) => settingKey(name, setting)),
    { key: 'type', schema: fixed(type), words: 'The protocol.' },
    ...Object.entries(settings).map(([name, setting]) => settingKey(name, setting)),
    ...Object.entries(secrets).flatMap(([name, secret]) => secretKeys(name, secret)),
  ];
  if (can.hostKeys) {
    const words = 'A fingerprint or a list; absent = trusted on first use, then pinned.';
    keys.push({ key: 'hostKey', schema: optional(hostKeyInFile), words });
  }
  const standing: Values = { ...defaultsOf(keys), type, ...example };
  return keys.map((key) => ({ ...key, example: standing[key.key] ?? '' }));
}

function defaultsOf(keys: readonly Omit<Key, 'example'>[]): Values {
  return Object.fromEntries(keys.map(({ key, schema }) => [key, (schema as { readonly default?: unknown }).default]));
}

function settingKey(name: string, { schema, fileSchema, fileKey, default: value, words }: Setting) {
  const { minLength: _min, maxLength: _max, ...unbounded } = (fileSchema ?? schema) as Schema;
  const standsIn = fileKey !== undefined && value === null ? '' : value;
  const admitted =
    standsIn === undefined ? unbounded : standsIn === null ? optional(unbounded) : withDefault(unbounded, standsIn);
  return { key: fileKey ?? name, schema: admitted, words };
}

function secretKeys(key: string, { isRequired, fileSchema, fileKey, words }: Secret) {
  const schema = isRequired ? fileSchema : optional(fileSchema);
  if (fileKey === undefined) return [{ key, schema, words }];
  return [
    { key: fileKey, schema: optional(FILE), words },
    { key, schema, words: 'The same as text, instead of the file.' },
  ];
}

const FILE = text('the path of a file that can be read');

/** A whole connection, defaults filled in. `isBasedOn`: secrets may come from a stored one. */
export function inputSchema(definition: Definition, isBasedOn = false): Schema {
  const fields = fieldsOf(definition);
  const required = fields.filter(
    ({ name, isRequired, isSecret }) => isRequired && name !== 'name' && !(isSecret && isBasedOn),
  );
  return {
    type: 'object',
    required: required.map(({ name }) => name),
    properties: {
      ...propertiesOf(fields),
      id: { type: 'string', pattern: SLUG, description: 'Identifier.' },
      type: { const: definition.type, description: 'Protocol.' },
    },
    additionalProperties: false,
  };
}

/** The fields that a change may name: no default stands in for those that it does not. */
export function changeSchema(
  definition: Definition,
): Schema & { readonly properties: Readonly<Record<string, Schema>> } {
  const properties = Object.entries(propertiesOf(fieldsOf(definition))).map(
    ([name, { default: _left, ...schema }]) => [name, schema] as const,
  );
  return { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false };
}

/** Fields by name, their schemas as the API shows them. */
function propertiesOf(fields: readonly Field[]): Record<string, Schema> {
  return Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
}

/** What an answer shows of the settings: bounds are for those who write. */
export function answerProperties({ settings }: Definition): Record<string, object> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => {
      if (setting.apiSchema !== undefined) return [name, described(setting.apiSchema, setting.words)];
      const { type, enum: values } = settingField(name, setting).schema;
      return [name, { type, ...(values === undefined ? {} : { enum: values }), description: setting.words }];
    }),
  );
}

/**
 * What a form draws, in its order: `title` is the label, `description` the hint, `writeOnly` marks secrets; a choice is a
 * `oneOf` of constants with titles.
 */
export function formSchema(definition: Definition): Schema {
  const fields = fieldsOf(definition);
  const drawn = fields.map(({ name, title, hint, schema, labels, isSecret }) => {
    const { enum: _values, ...rest } = schema;
    const choices = Object.entries(labels ?? {}).map(([value, label]) => ({ const: value, title: label }));
    const shape = labels === undefined ? schema : { ...rest, oneOf: choices };
    const marks = isSecret ? { writeOnly: true } : {};
    return [name, { title, ...shape, description: hint, ...marks }] as const;
  });
  return {
    type: 'object',
    title: definition.title,
    required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    properties: Object.fromEntries(drawn),
    examples: [definition.example],
  };
}

export const summaryFields = {
  id: text('Identifier.'),
  name: text('Shown to people.'),
  type: oneOf(
    CONNECTION_TYPES.map(({ type }) => type),
    'Protocol.',
  ),
};

/** A connection, where something is told of it. */
export const connectionSummary = object('ConnectionSummary', summaryFields);

export function summaryOf({ id, name, type }: Connection): Static<typeof connectionSummary> {
  return { id, name, type };
}
