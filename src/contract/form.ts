/**
 * How forms ask for fields. This module imports no schemas, because the dashboard uses it with the schemas of
 * connections.
 */
/**
 * `long`: text of several lines. `lines`: texts, one per line. `words`: texts without spaces. `bytes`, `age`: a number
 * and a unit. `connection`: its id; `connections`: several. `folder`: on the
 * connection that the same thing, or the same part of it, names.
 */
export type InputKind =
  | 'text'
  | 'url'
  | 'long'
  | 'secret'
  | 'number'
  | 'bytes'
  | 'age'
  | 'flag'
  | 'choice'
  | 'choices'
  | 'lines'
  | 'words'
  | 'date-time'
  | 'connection'
  | 'connections'
  | 'folder';

/** A field of a form. An object has a form field for each of its parts, named `field.part`. */
export interface FormField {
  readonly name: string;
  readonly input: InputKind;
  /** The thing cannot exist without it. For a part: the object cannot. */
  readonly isNeeded: boolean;
  /** null removes it. */
  readonly isNullable: boolean;
  /** A part that can be set without the others. */
  readonly isAlone?: boolean;
  /** A part of an object that takes the place of the choice with the field's name, once one of its parts is filled in. */
  readonly isInstead?: boolean;
  /** A part that belongs only to this value of the object's first part. */
  readonly onlyFor?: string;
  readonly default?: unknown;
  readonly choices?: readonly string[];
  readonly example?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  /** A list has it for each of its texts. */
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  /** Its value is written and never shown. */
  readonly isSecret?: boolean;
}

/** The parts of JSON Schema that fields use. */
interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly oneOf?: readonly FieldSchema[];
  readonly items?: FieldSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly writeOnly?: boolean;
  readonly 'x-only-for'?: string;
}

interface About {
  readonly isNeeded?: boolean;
  readonly default?: unknown;
  readonly input?: InputKind | undefined;
  readonly example?: string | undefined;
  readonly isAlone?: boolean;
  readonly isInstead?: boolean;
}

/** One form field, or one for each part. */
export function formFieldsIn(name: string, schema: FieldSchema, about: About = {}): readonly FormField[] {
  const { oneOf = [] } = schema;
  const isNullable = oneOf.some(({ type }) => type === 'null') || (schema.type ?? '').includes('null');
  const shape = isNullable && oneOf.length > 0 ? (oneOf[0] ?? schema) : schema;
  const constants = oneOf.flatMap(({ const: constant }) => constant ?? []);
  const isInstead = constants.length > 0;
  const object = isInstead ? oneOf.find(({ properties }) => properties !== undefined) : shape;
  const { properties = {}, required = [] } = object ?? {};
  const parts = Object.entries(properties).flatMap(([part, one]) =>
    formFieldsIn(`${name}.${part}`, one, {
      isNeeded: required.includes(part),
      isAlone: !isNullable && required.length === 0,
      isInstead,
      input: one.writeOnly === true ? 'secret' : isInstead && one.items !== undefined ? 'words' : undefined,
      example: part === 'path' ? about.example : undefined,
    }),
  );
  if (parts.length > 0 && !isInstead) return parts;
  const { minimum, maximum = Infinity, enum: words, items, minItems = 0, maxItems } = shape;
  const { maxLength, pattern } = items ?? shape;
  const choices = words ?? items?.enum ?? (constants.length > 0 ? constants : undefined);
  return [
    {
      name,
      input: about.input ?? (constants.length > 0 ? 'choice' : inputOf(name.slice(name.lastIndexOf('.') + 1), shape)),
      isNeeded: items === undefined ? about.isNeeded === true && !isNullable : minItems > 0 && about.isInstead !== true,
      isNullable,
      ...(about.isAlone === true ? { isAlone: true } : {}),
      ...(about.isInstead === true ? { isInstead: true } : {}),
      ...(schema['x-only-for'] === undefined ? {} : { onlyFor: schema['x-only-for'] }),
      ...(about.default === undefined ? {} : { default: about.default }),
      ...(choices === undefined ? {} : { choices }),
      ...(about.example === undefined ? {} : { example: about.example }),
      ...(minimum === undefined ? {} : { minimum }),
      ...(maximum < Number.MAX_SAFE_INTEGER ? { maximum } : {}),
      ...(maxLength === undefined ? {} : { maxLength }),
      ...(pattern === undefined ? {} : { pattern }),
      ...(maxItems === undefined || choices !== undefined ? {} : { maxItems }),
      ...(schema.writeOnly === true || about.input === 'secret' ? { isSecret: true } : {}),
    },
    ...parts,
  ];
}

function inputOf(name: string, { type = '', enum: words, items }: FieldSchema): InputKind {
  if (name === 'connectionId') return 'connection';
  if (name === 'connections') return 'connections';
  if (name === 'path') return 'folder';
  if (words !== undefined) return 'choice';
  if (items !== undefined) return items.enum === undefined ? 'lines' : 'choices';
  if (type.includes('boolean')) return 'flag';
  return type.includes('integer') || type.includes('number') ? 'number' : 'text';
}
