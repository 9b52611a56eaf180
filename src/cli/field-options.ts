/** The options of commands that set fields of a thing, as its definition in the contract has them. */
import { type Command, Option } from 'commander';
import { type Fields, settable } from '../contract/thing.js';
import { number, orNone } from './option-values.js';

interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

interface FieldOption {
  readonly field: string;
  readonly option: Option;
  /** What the option says where it takes no value. */
  readonly means: string | true;
}

export function fieldOptionsOf(fields: Fields): readonly FieldOption[] {
  return settable(fields).flatMap(({ name, field: { schema, option } }) =>
    option === undefined
      ? []
      : [{ field: name, option: optionOf(option.flags, option.help, schema), means: option.means ?? true }],
  );
}

/** What was given on the command line, by the names of the fields. */
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

function optionOf(flags: string, help: string, schema: object): Option {
  const { type = [], enum: choices, minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Shape = schema;
  const option = new Option(flags, help);
  if (!option.required) return option;
  if (choices !== undefined) return option.choices(choices);
  if (!type.includes('integer')) return option;
  const parse = number(minimum, maximum);
  return option.argParser(type.includes('null') ? orNone(parse) : parse);
}
