/** Derived from a definition: the fields and schemas of gateway.yaml, of requests and answers, of forms and help. */
import { type Static, type TSchema, Type } from 'typebox';
import { SLUG } from '../patterns.js';
import { INSTEAD, type KeyInFile, keysOfField } from '../in-file.js';
import { descriptionOf, fixed, flag, group, mapping, object, oneOf, optional, text } from '../schema.js';
import { derived, type Fields, type FieldTexts, type Given, type Secret } from '../thing.js';
import type { Definition, Values } from './definition.js';
import { connectionFields, hostKeyFields, hostKeyInFile, slug } from './fields.js';
import { orReference } from './reference.js';
import { CONNECTION_TYPES, type ConnectionType } from './types.js';

type Schema = Readonly<Record<string, unknown>>;

/** A field of requests. */
export interface Field extends Pick<Given, 'isAdvanced' | 'isHarmless' | 'partsFor'> {
  readonly name: string;
  readonly texts: FieldTexts;
  /** The description for forms and prompts, in which an empty input means null. */
  readonly hint: string;
  /** The schema of requests, with the field's description and default. */
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** Text of several lines. */
  readonly isLong: boolean;
}

const { name, isActive } = connectionFields;
const { keyPairId, hostKeys } = hostKeyFields;

/** In the order of forms and help. */
export function fieldsOf({ settings, secrets, can }: Definition): readonly Field[] {
  const own = fieldsIn({ name, isActive, ...settings });
  const inForms = (isLate: boolean) =>
    own.filter(({ isAdvanced, isHarmless = false }) => isAdvanced !== true && isHarmless === isLate);
  return [
    ...inForms(false),
    ...fieldsIn(secrets),
    ...(can.hostKeys ? fieldsIn({ keyPairId, hostKeys }) : []),
    ...inForms(true),
    ...own.filter(({ isAdvanced }) => isAdvanced),
  ];
}

function fieldsIn(fields: Readonly<Record<string, Given | Secret>>): readonly Field[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const isSecret = field.kind === 'secret';
    if (isSecret ? field.partOf !== undefined : field.isFixed === true || field.isFileOnly === true) return [];
    const { texts, input, isNeeded: isRequired = false } = field;
    const { isAdvanced, isHarmless, partsFor, default: usual } = isSecret ? {} : (field as Partial<Given>);
    const schema = isSecret
      ? secretSchema(field, isRequired)
      : { ...field.schema, ...(usual === undefined ? {} : { default: usual }) };
    const hint = descriptionOf(field.schema).replaceAll('`', '').replaceAll('null =', 'empty =');
    const rest = { schema, isRequired, isSecret, isLong: input === 'long', isAdvanced, isHarmless, partsFor };
    return [{ name, texts: texts as FieldTexts, hint, ...rest }];
  });
}

function secretSchema({ schema }: Secret, isRequired: boolean): Schema {
  const { description, ...bounds } = schema as Schema;
  const words = `${String(description)} Written, never shown${isRequired ? '' : '; null takes it away'}.`;
  return { ...bounds, type: ['string', 'null'], description: words };
}

/** An entry under accounts[].connections of gateway.yaml. */
export function entrySchema(definition: Definition): TSchema {
  return mapping(Object.fromEntries(configKeysOf(definition).map(({ key, schema }) => [key, schema] as const)));
}

/** The keys of such an entry, each with an example and a description. */
export function configKeysOf({ type, settings, secrets, can, example }: Definition): readonly Required<KeyInFile>[] {
  const keys: KeyInFile[] = [
    { key: 'id', schema: optional(slug), words: 'Lower-case letters, digits, - and _; generated when absent.' },
    ...Object.entries({ name, isActive }).flatMap(([key, field]) => keysOfField(key, field)),
    { key: 'type', schema: fixed(type), words: 'The protocol.' },
    ...Object.entries(settings).flatMap(([key, field]) => keysOfField(key, field)),
    ...Object.entries(secrets).flatMap(([key, field]) => secretKeys(key, field)),
  ];
  if (can.hostKeys) {
    const words = 'A fingerprint or a list; absent = trusted on first use, then pinned.';
    keys.push({ key: 'hostKey', schema: optional(hostKeyInFile), words });
  }
  const defaults = keys.map(({ key, schema }) => [key, (schema as Schema)['default']] as const);
  const shown: Values = { ...Object.fromEntries(defaults), type, ...example };
  const none = ({ type }: JsonSchema): '' | null => (type?.includes('null') === true ? null : '');
  return keys.map((key) => ({ ...key, example: shown[key.key] ?? none(key.schema as JsonSchema) }));
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly properties?: Schema;
  readonly oneOf?: readonly JsonSchema[];
}

function secretKeys(key: string, field: Secret): readonly KeyInFile[] {
  const { isNeeded = false, file = {}, partOf } = field;
  if (partOf !== undefined) return [];
  const own = file.schema ?? text('text (numbers in quotes)');
  const admitted = orReference(own);
  const schema = isNeeded ? admitted : optional(admitted);
  if (file.key === undefined) return [{ key, schema, words: descriptionOf(field.schema) }];
  return [
    {
      key: file.key,
      schema: optional(text('the path of a file that can be read')),
      words: descriptionOf(field.schema),
    },
    { key, schema, words: INSTEAD },
  ];
}

/** A complete connection with defaults. `isBasedOn`: secrets may come from a stored one. */
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
      ...fileOnly(definition),
      id: { type: 'string', pattern: SLUG, description: 'Identifier.' },
      type: { const: definition.type, description: 'Protocol.' },
    },
    additionalProperties: false,
  };
}

/** The schema of a change: an absent field does not change, so no field has a default. */
export function changeSchema(
  definition: Definition,
): Schema & { readonly properties: Readonly<Record<string, Schema>> } {
  const properties = Object.entries(propertiesOf(fieldsOf(definition))).map(
    ([name, { default: _left, ...schema }]) => [name, schema] as const,
  );
  const all = { ...Object.fromEntries(properties), ...fileOnly(definition) };
  return { type: 'object', properties: all, additionalProperties: false };
}

/** The settings that only gateway.yaml sets: a request may have their defaults, as answers show them. */
function fileOnly({ settings }: Definition): Record<string, Schema> {
  const found = Object.entries(settings).filter(([, { isFileOnly }]) => isFileOnly === true);
  return Object.fromEntries(
    found.map(([name, field]) => [name, { const: field.default, description: descriptionOf(field.schema) }] as const),
  );
}

/** Fields by name, with their schemas in the API. */
function propertiesOf(fields: readonly Field[]): Record<string, Schema> {
  return Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
}

/** The fields of this type in answers. */
export function shownFieldsOf({ type, settings, secrets, can }: Definition): Fields {
  const known = Object.keys(secrets).map((name) => [name, flag('Whether there is one.')] as const);
  return {
    ...connectionFields,
    type: derived(Type.Literal(type, { description: 'Protocol.' })),
    ...settings,
    ...(can.hostKeys ? hostKeyFields : {}),
    secrets: derived(group(Object.fromEntries(known), 'Which of them are set.')),
  };
}

/**
 * The schema of a form, in its order: `title` is the label, `description` the hint, `writeOnly` marks secrets; a choice
 * is a `oneOf` of constants with titles; `x-only-for` is the value of the object's first part that a part belongs to.
 */
export function formSchema(definition: Definition): Schema {
  const fields = fieldsOf(definition);
  const drawn = fields.map(({ name, texts: { label, choices }, hint, schema, isSecret, partsFor = {} }) => {
    const { enum: _values, ...rest } = schema as JsonSchema;
    const objects = (rest.oneOf ?? []).filter(({ properties }) => properties !== undefined);
    const titles = Object.entries(choices ?? {}).map(([value, title]) => ({ const: value, title }));
    const shape = choices === undefined ? withOwners(schema, partsFor) : { ...rest, oneOf: [...titles, ...objects] };
    const marks = isSecret ? { writeOnly: true } : {};
    return [name, { title: label, ...shape, description: hint, ...marks }] as const;
  });
  return {
    type: 'object',
    title: definition.title,
    required: fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    properties: Object.fromEntries(drawn),
    examples: [definition.example],
  };
}

/** The same object, whose parts say which value of the first one they belong to. */
function withOwners(schema: Schema, owners: Readonly<Record<string, string>>): Schema {
  const { properties = {} } = schema as JsonSchema;
  if (Object.keys(owners).length === 0) return schema;
  const parts = Object.entries(properties).map(([part, shape]) => {
    const { [part]: owner } = owners;
    return [part, owner === undefined ? shape : { ...(shape as Schema), 'x-only-for': owner }] as const;
  });
  return { ...schema, properties: Object.fromEntries(parts) };
}

export const summaryFields = {
  id: text('Identifier.'),
  name: text('Shown to people.'),
  type: oneOf(
    CONNECTION_TYPES.map(({ type }) => type),
    'Protocol.',
  ),
};

/** A connection as a part of other things. */
export const connectionSummary = object('ConnectionSummary', summaryFields);

export function summaryOf(connection: {
  readonly id: string;
  readonly name: string;
  readonly type: ConnectionType;
}): Static<typeof connectionSummary> {
  return { id: connection.id, name: connection.name, type: connection.type };
}
