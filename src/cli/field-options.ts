/** The options of commands that set fields of a thing or filter a list, made from its definition in the contract. */
import { type Command, Option } from 'commander';
import type { Filters } from '../contract/filters.js';
import type { CommandOption, Fields } from '../contract/thing.js';
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

/** As the parsers of `reading` leave it. */
type OptionValue = string | number | boolean | readonly string[];

type Defined = Fields | Filters;

export function fieldOptionsOf(fields: Defined): readonly FieldOption[] {
  return Object.entries<Defined[string]>(fields).flatMap(([name, field]) => {
    if ((field.kind !== 'given' && field.kind !== 'filter') || field.option === undefined) return [];
    const { flags, help, unit, means = true, choices } = field.option;
    const schema = choices === undefined ? field.schema : { enum: choices };
    return [{ field: name, option: reading(new Option(flags, help), schema, unit), means }];
  });
}

/** The options given on the command line, by field name. */
export function givenFieldsOf(fields: Defined, options: object): Readonly<Record<string, OptionValue>> {
  const values = options as Readonly<Record<string, OptionValue | undefined>>;
  return Object.fromEntries(
    fieldOptionsOf(fields).flatMap(({ field, option, means }) => {
      const value = values[option.attributeName()];
      return value === undefined ? [] : [[field, value === true ? means : value] as const];
    }),
  );
}

export function addFieldOptions(command: Command, fields: Defined, without: readonly string[] = []): Command {
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
