import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { refusal } from './errors.js';
import { decimalOf, EXACT_RANGE, isExact } from './numbers.js';
import { validatorOf, type ValidatorKind } from './validators.js';

const MAX_NAME = 100;

type Listener = (schema: object, kind: ValidatorKind) => void;
let onChecker: Listener | undefined;

/** `listener` gets each checker that is created from now on: the build compiles their schemas. */
export function listCheckers(listener: Listener | undefined): void {
  onChecker = listener;
}

/**
 * Turns a schema into a check that returns the checked value (a copy, with defaults filled in; with `coerce`, text
 * converted to the wanted type, numbers in decimal digits) or throws bad_request naming the field and what is allowed,
 * never the value.
 */
export function createChecker<T extends TSchema>(
  schema: T,
  what: string,
  { coerce = false } = {},
): (value: unknown) => Static<T> {
  const kind = coerce ? 'coerced' : 'strict';
  onChecker?.(schema, kind);
  // Created at the first use: one start uses few of all endpoints.
  let validate: ValidateFunction<Static<T>> | undefined;
  const numeric = coerce ? numericFields(schema) : [];
  return (value) => {
    validate ??= validatorOf<Static<T>>(schema, kind);
    // A plain copy: defaults must not reach the caller's object.
    const copy: unknown = isRecord(value) ? { ...value } : value;
    if (isRecord(copy)) for (const { name, type } of numeric) convertNumber(copy, name, type);
    if (validate(copy)) return copy;
    throw refusal('bad_request', explain(mostTelling(validate.errors ?? []), what));
  };
}

interface NumericField {
  readonly name: string;
  readonly type: 'integer' | 'number';
}

function numericFields(schema: object): NumericField[] {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, { readonly type?: unknown }>> };
  return Object.entries(properties).flatMap(([name, { type }]): NumericField[] => {
    if ([type].flat().includes('integer')) return [{ name, type: 'integer' }];
    return [type].flat().includes('number') ? [{ name, type: 'number' }] : [];
  });
}

/** Before ajv does: its coercion takes Infinity, 1e309 and hexadecimal for numbers, past minimum and maximum. */
function convertNumber(fields: Record<string, unknown>, name: string, type: NumericField['type']): void {
  const text = fields[name];
  if (typeof text !== 'string') return;
  const number = decimalOf(text);
  const mistake = number === undefined ? type : isExact(number) ? undefined : EXACT_RANGE;
  if (mistake !== undefined) throw refusal('bad_request', `${name} must be ${mistake}`);
  fields[name] = number;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The mistake within the form that a value has, if several are possible (oneOf). */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject | undefined {
  return errors.findLast(({ keyword }) => keyword !== 'type' && keyword !== 'oneOf' && keyword !== 'if') ?? errors[0];
}

function explain(error: ErrorObject | undefined, what: string): string {
  if (error === undefined) return `${what} is not valid`;
  const field = shortened(error.instancePath.slice(1).replaceAll('/', '.'));
  if (error.keyword === 'required') return `${String(error.params['missingProperty'])} is missing`;
  if (error.keyword === 'additionalProperties')
    return `${shortened(String(error.params['additionalProperty']))} is not a known field`;
  const subject = field === '' ? what : field;
  if (error.keyword === 'enum') {
    return `${subject} must be one of ${(error.params['allowedValues'] as unknown[]).join(', ')}`;
  }
  // For text on one line, the pattern itself says little to a reader.
  if (error.keyword === 'pattern' && String(error.params['pattern']).startsWith('^[^\\u0000')) {
    return `${subject} must not hold control characters`;
  }
  if (error.keyword === 'minLength') return `${subject} must not be empty`;
  return `${subject} ${error.message ?? 'is not valid'}`;
}

/** The name of an unknown field, or a path through one, is the client's own text. */
function shortened(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}…`;
}
