/** The options of `ftg connections create` and `edit`: one for each field of every type, with its description. */
import { Option } from 'commander';
import { capital, separated } from '../base/letters.js';
import type { Definition } from '../contract/connection/definition.js';
import { type Field, fieldsOf } from '../contract/connection/schemas.js';
import { CONNECTION_TYPES } from '../contract/connection/types.js';
import { reading } from './field-options.js';

export interface FieldOption {
  readonly option: Option;
  readonly field: string;
  /** The part of the field, if it has parts. */
  readonly part?: string;
  /** The value is the name of a file with the field's value. */
  readonly isFile: boolean;
  readonly isNullable: boolean;
  /** For the first part: the other parts that belong to only one of its values. */
  readonly partsFor?: Readonly<Record<string, string>> | undefined;
}

interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly writeOnly?: boolean;
  readonly description?: string;
  /** Words or an object. */
  readonly oneOf?: readonly Shape[];
}

export function fieldOptions(definitions: readonly Definition[]): readonly FieldOption[] {
  const fields = definitions.flatMap((definition) => fieldsOf(definition).map((field) => ({ field, definition })));
  return fields.flatMap(({ field }, at) => {
    const same = fields.filter((other) => other.field.name === field.name);
    // A field of several types is one option.
    if (fields.findIndex((other) => other.field.name === field.name) < at) return [];
    const scope =
      same.length === definitions.length ? '' : ` (${same.map(({ definition }) => definition.type).join(', ')})`;
    return optionsOf(field, scope);
  });
}

export const TYPES = CONNECTION_TYPES.map(({ type }) => type);
export const FIELD_OPTIONS = fieldOptions(CONNECTION_TYPES);

function optionsOf({ name, texts, hint, schema, isSecret, isLong, partsFor }: Field, scope: string): FieldOption[] {
  const shape: Shape = schema;
  const words = shape.oneOf?.find(({ enum: choices }) => choices !== undefined);
  const { properties = {} } = shape.oneOf?.find((form) => form.properties !== undefined) ?? shape;
  const parts = Object.entries(properties).map(([part, one], at): FieldOption => {
    const whole = `${name}${capital(part)}`;
    const isFile = one.writeOnly === true;
    const help = (one.description ?? '').replaceAll('`', '');
    return {
      option: isFile
        ? fileOption(whole, texts.parts?.[part]?.label ?? part, scope)
        : optionOf(whole, one, `${help}${scope}`),
      field: name,
      part,
      isFile,
      // Without a part that it must have, the field is null.
      isNullable: shape.type?.includes('null') === true && shape.required?.includes(part) === true,
      partsFor: at === 0 ? partsFor : undefined,
    };
  });
  if (parts.length > 0 && words === undefined) return parts;
  const isFile = isSecret || isLong;
  const option = isFile ? fileOption(name, texts.label, scope) : optionOf(name, words ?? shape, `${hint}${scope}`);
  return [{ option, field: name, isFile, isNullable: shape.type?.includes('null') === true }, ...parts];
}

function fileOption(name: string, label: string, scope: string): Option {
  return new Option(
    `--${separated(name, '-')}-file <file>`,
    `${label}: a file that holds it, or - for standard input${scope}`,
  );
}

function optionOf(name: string, { type = [], enum: choices, ...bounds }: Shape, help: string): Option {
  const word = type.includes('integer') ? 'number' : type.includes('boolean') ? 'true|false' : undefined;
  const value = choices?.join('|') ?? word ?? separated(name, '-').split('-').at(-1) ?? name;
  const more = choices === undefined && type.includes('array') ? '...' : '';
  return reading(new Option(`--${separated(name, '-')} <${value}${more}>`, help), { type, enum: choices, ...bounds });
}
