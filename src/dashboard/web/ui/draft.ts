/** The input of a form and its requests, by the fields of the contract. */
import type { FormField } from '../../../contract/form.ts';
import type { FieldTexts } from '../../../contract/thing.ts';
import type { Thing } from '../../../contract/things.ts';
import { inputTime, timeOfInput } from '../format.ts';
import { t } from '../texts/texts.ts';
import { ageText, bytesOf, secondsOf, sizeText } from './units.ts';

export type Value = string | boolean | readonly string[];
/** Values by the names of fields. */
export type Draft = Readonly<Record<string, Value>>;

type Values = Readonly<Record<string, unknown>>;
export type Asks = (name: string) => boolean;

/** The draft of a stored object. Without one, the fields have their defaults. */
export function draftOf(fields: readonly FormField[], stored: object = {}): Draft {
  return Object.fromEntries(fields.map((field) => [field.name, typed(field, valueAt(stored, field.name))]));
}

/** For `copyTo.path`, the field `path` of the object in `copyTo`. */
function valueAt(stored: unknown, name: string): unknown {
  return name
    .split('.')
    .reduce((at, part) => (typeof at === 'object' && at !== null ? (at as Values)[part] : undefined), stored);
}

function typed({ input, default: usual, choices = [] }: FormField, stored: unknown = usual): Value {
  const texts = Array.isArray(stored) ? stored.map(String) : [];
  const text = typeof stored === 'string' || typeof stored === 'number' ? String(stored) : '';
  switch (input) {
    case 'flag':
      return stored === true;
    case 'choices':
    case 'connections':
      return texts;
    case 'lines':
    case 'words':
      return texts.join('\n');
    case 'choice':
      return text === '' ? (choices[0] ?? '') : text;
    case 'bytes':
      return typeof stored === 'number' && stored !== usual ? sizeText(stored) : '';
    case 'age':
      return typeof stored === 'number' ? ageText(stored) : '';
    case 'date-time':
      return inputTime(text, 'minute');
    default:
      // A default of 0 is shown as an empty field.
      return text === '0' && usual === 0 ? '' : text;
  }
}

/** Undefined = left empty. NaN = not readable. */
export function answerTo({ input }: FormField, value: Value | undefined): unknown {
  if (typeof value !== 'string') return value;
  if (input === 'secret' || input === 'long') return value === '' ? undefined : value;
  const text = value.trim();
  if (input === 'lines') return text.split(/\s*\n\s*/).filter(Boolean);
  if (input === 'words') return text.split(/[\s,;]+/).filter(Boolean);
  if (text === '') return undefined;
  switch (input) {
    case 'number':
      return Number(text);
    case 'bytes':
      return bytesOf(text);
    case 'age':
      return secondsOf(text);
    case 'date-time':
      return timeOfInput(text);
    default:
      return text;
  }
}

/** Whether the field belongs to an object that is absent, because the object's first field is empty. */
export function isOfNone(fields: readonly FormField[], name: string, draft: Draft): boolean {
  const [of, part] = name.split('.');
  const isAlone = fields.find((field) => field.name === name)?.isAlone === true;
  return (
    part !== undefined && !isAlone && draft[fields.find((field) => field.name.startsWith(`${of}.`))?.name ?? ''] === ''
  );
}

/** Whether the field belongs to another value of its object's first field. */
export function isOfOther(fields: readonly FormField[], name: string, draft: Draft): boolean {
  const [of] = name.split('.');
  const onlyFor = fields.find((field) => field.name === name)?.onlyFor;
  const first = fields.find((field) => field.name.startsWith(`${of}.`))?.name ?? '';
  return onlyFor !== undefined && draft[first] !== onlyFor;
}

/** The answers by the fields of the request. Empty fields are undefined, and absent objects null. */
export function answersOf(fields: readonly FormField[], draft: Draft, asks: Asks = () => true): Values {
  const answers: Record<string, unknown> = {};
  for (const field of fields) {
    const [name = '', part] = field.name.split('.');
    if (!asks(name) || isOfOther(fields, field.name, draft)) continue;
    const answer = answerTo(field, draft[field.name]);
    if (part === undefined) answers[name] = answer;
    else if (isOfNone(fields, field.name, draft)) answers[name] = null;
    else if (field.isInstead !== true) answers[name] = { ...(answers[name] as object | undefined), [part]: answer };
    else if (!isEmpty(answer)) answers[name] = { ...objectIn(answers[name]), [part]: answer };
  }
  return answers;
}

export const isEmpty = (answer: unknown): boolean =>
  answer === undefined || (Array.isArray(answer) && answer.length === 0);
const objectIn = (answer: unknown): object => (typeof answer === 'object' && answer !== null ? answer : {});

/** The fields that differ from the stored object. An emptied field becomes null or gets its default. */
export function changesOf(fields: readonly FormField[], draft: Draft, former: object, asks?: Asks): Values {
  const sent = (name: string, answer: unknown): unknown => {
    const { isNullable = true, default: usual } = fields.find((field) => field.name === name) ?? {};
    return answer ?? (isNullable ? null : usual);
  };
  const before = answersOf(fields, draftOf(fields, former));
  const after = Object.entries(answersOf(fields, draft, asks));
  return Object.fromEntries(
    after
      .map(([name, answer]) => [name, sent(name, answer)] as const)
      .filter(([name, answer]) => text(answer) !== text(sent(name, before[name]))),
  );
}

/** Compares arrays in any order. */
function text(answer: unknown): string {
  return JSON.stringify(Array.isArray(answer) ? [...(answer as readonly unknown[])].sort() : answer) ?? '';
}

/** A number is required if its default is not 0, since an empty field would mean that default. */
export function isRequired({ isNeeded, input, default: usual }: FormField): boolean {
  return isNeeded || (input === 'number' && typeof usual === 'number' && usual !== 0);
}

/** Whether the other answers leave this field out. */
export function isLeftOut(fields: readonly FormField[], name: string, draft: Draft, asks: Asks): boolean {
  return !asks(name.split('.')[0] ?? '') || isOfNone(fields, name, draft) || isOfOther(fields, name, draft);
}

/** An address with a login, or the beginning of one. */
const HAS_LOGIN = /:\/\/[^/]*(?:@|:(?!\d{0,5}(?:\/|$)))/;

/** The input that may be kept: without secrets, and without addresses that may have a login. */
export function safeDraft(fields: readonly FormField[], draft: Draft): Draft {
  const isSafe = (name: string, value: Value): boolean => {
    const field = fields.find((one) => one.name === name);
    return field?.isSecret !== true && field?.input !== 'secret' && !HAS_LOGIN.test(String(value));
  };
  return Object.fromEntries(Object.entries(draft).filter(([name, value]) => isSafe(name, value)));
}

/** The texts of a field, or of a part of one. */
export function textsAt(thing: Thing, name: string): FieldTexts | undefined {
  const [of = '', part] = name.split('.');
  const texts = (t.fields[thing] as Readonly<Record<string, FieldTexts | undefined>>)[of];
  return part === undefined ? texts : texts?.parts?.[part];
}
