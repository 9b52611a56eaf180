/** The options of commands that set fields of a thing, made from its definition in the contract. */
import { type Command, Option } from 'commander';
import { type CommandOption, type Fields, settable } from '../contract/thing.js';
import { age, bytes, flag, gathered, number, orNone } from './option-values.js';

interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Shape;
}

interface FieldOption {
  readonly field: string;
  readonly option: Option;
  /** The value if the option takes none. */
  readonly means: string | true;
}

export function fieldOptionsOf(fields: Fields): readonly FieldOption[] {
  return settable(fields).flatMap(({ name, field: { schema, option } }) =>
    option === undefined
      ? []
      : [
          {
            field: name,
            option: reading(new Option(option.flags, option.help), schema, option.unit),
            means: option.means ?? true,
          },
        ],
  );
}

/** The options given on the command line, by field name. */
export function givenFieldsOf(fields: Fields, options: object): Readonly<Record<string, unknown>> {
  const values = options as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    fieldOptionsOf(fields).flatMap(({ field, option, means }) => {
      const value = values[option.attributeName()];
      return value === undefined ? [] : [[field, value === true ? means : value] as const];
    }),
  );
}

export function addFieldOptions(command: Command, fields: Fields, without: readonly string[] = []): Command {
  for (const { field, option } of fieldOptionsOf(fields)) if (!without.includes(field)) command.addOption(option);
  return command;
}

/** The same, but required. */
export function addNeededOptions(command: Command, fields: Fields): Command {
  for (const { option } of fieldOptionsOf(fields)) command.addOption(option.makeOptionMandatory());
  return command;
}

/** Makes an option parse its value according to the schema of its field. */
export function reading(option: Option, schema: object, unit?: CommandOption['unit']): Option {
  const {
    type = [],
    items,
    enum: choices = items?.enum,
    minimum = 0,
    maximum = Number.MAX_SAFE_INTEGER,
  }: Shape = schema;
  if (!option.required) return option;
  if (unit !== undefined) return option.argParser({ bytes, age }[unit]);
  if (choices !== undefined) return option.choices(choices);
  // The choices are for completion.
  if (type.includes('boolean')) return option.choices(['true', 'false']).argParser(flag);
  if (type.includes('array')) return option.variadic ? option : option.argParser(gathered);
  if (!type.includes('integer')) return option;
  const parse = number(minimum, maximum);
  return option.argParser(type.includes('null') ? orNone(parse) : parse);
}
