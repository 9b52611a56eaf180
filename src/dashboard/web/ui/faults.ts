/** What is wrong with the input of a field. Each text says what would be correct. */
import { parseGlob } from '../../../base/globs/parse.ts';
import type { FormField } from '../../../contract/form.ts';
import * as patterns from '../../../contract/patterns.ts';
import { t } from '../texts/texts.ts';
import type { FieldInput } from './fields.tsx';
import { answerTo, type Draft, isEmpty, isRequired } from './draft.ts';
import { ageText, LIKES, sizeText } from './units.ts';

/** Fields whose texts are patterns of file names. */
const GLOBS = ['include', 'exclude', 'filePattern', 'excludePattern'];
/** The forms of texts that have words. */
const FORMS: Readonly<Record<string, keyof typeof t.form.faults.patterns>> = {
  [patterns.NAME]: 'line',
  [patterns.LINE]: 'line',
  [patterns.LINES]: 'line',
  [patterns.ABSOLUTE]: 'absolute',
  [patterns.SLUG]: 'slug',
  [patterns.FINGERPRINT]: 'fingerprint',
  [patterns.SHA_256]: 'sha256',
  [patterns.PROXY_URL]: 'proxy',
  [patterns.AES_KEY]: 'aesKey',
  [patterns.STS_URL]: 'service',
  [patterns.REGION]: 'region',
};

/** Undefined if the field's value can be sent. */
export function faultOf(field: FormField, draft: Draft, isNeeded = isRequired(field)): string | undefined {
  const { faults } = t.form;
  const answer = answerTo(field, draft[field.name]);
  if (isEmpty(answer)) {
    if (!isNeeded) return undefined;
    return Array.isArray(draft[field.name]) ? faults.choose : faults.missing;
  }
  if (typeof answer === 'number') return numberFault(field, answer);
  if (field.input === 'date-time' && typeof answer === 'string' && Date.parse(answer) < Date.now()) return faults.past;
  if (field.choices !== undefined) return undefined;
  if (typeof answer === 'string') return textFault(field, answer);
  if (!Array.isArray(answer)) return undefined;
  const texts = answer.map(String);
  if (field.maxItems !== undefined && texts.length > field.maxItems) return faults.many(field.maxItems);
  const [first] = texts.flatMap((text) => {
    const fault = textFault(field, text);
    return fault === undefined ? [] : [faults.at(text, fault)];
  });
  return first;
}

function numberFault({ input, minimum, maximum }: FormField, answer: number): string | undefined {
  const units: Partial<Record<FormField['input'], (bound: number) => string>> = {
    bytes: sizeText,
    age: ageText,
  };
  const { faults, notUnit, or } = t.form;
  if (Number.isNaN(answer) && (input === 'age' || input === 'bytes')) return notUnit(LIKES[input].join(or));
  if (!Number.isInteger(answer)) return faults.number;
  return boundFault(answer, minimum, maximum, units[input]);
}

function boundFault(
  answer: number,
  least = -Infinity,
  most = Infinity,
  textOf: (bound: number) => string = String,
): string | undefined {
  if (answer >= least && answer <= most) return undefined;
  const { faults } = t.form;
  if (most === Infinity) return faults.least(textOf(least));
  return least === -Infinity ? faults.most(textOf(most)) : faults.between(textOf(least), textOf(most));
}

function textFault({ name, input, pattern, maxLength = Infinity }: FormField, text: string): string | undefined {
  const { faults } = t.form;
  if (text.length > maxLength) return faults.long(maxLength);
  if (input === 'url') return isWebAddress(text) ? undefined : faults.url;
  if (GLOBS.includes(name)) return isGlob(text) ? undefined : faults.glob;
  const isFit = pattern === undefined || new RegExp(pattern, 'u').test(text);
  return isFit ? undefined : faults.patterns[FORMS[pattern] ?? 'other'];
}

export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
}

function isGlob(text: string): boolean {
  try {
    parseGlob(text);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with an input that is not of the contract. */
export function inputFault({ value, required, type, min, max, minLength = 0 }: FieldInput): string | undefined {
  const text = String(value ?? '').trim();
  const { faults } = t.form;
  if (text === '') return required === true ? faults.missing : undefined;
  if (text.length < minLength) return faults.short(minLength);
  if (type !== 'number') return undefined;
  const number = Number(text);
  if (!Number.isInteger(number)) return faults.number;
  return boundFault(number, min === undefined ? undefined : Number(min), max === undefined ? undefined : Number(max));
}
