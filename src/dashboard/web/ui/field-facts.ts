/** Facts from the fields of the contract, by their labels. */
import { formFields } from '../../../contract/derived/form-fields.ts';
import type { FormField } from '../../../contract/form.ts';
import type { Thing } from '../../../contract/things.ts';
import { formatBytes, formatDateTime, formatDuration, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { answersOf, draftOf, textsAt, type Draft } from './draft.ts';

type FieldFacts = Readonly<Record<string, string>>;

/** Settings that differ from their defaults, except those that the screen shows elsewhere. */
export function otherFacts(thing: Thing, stored: object, shown: readonly string[]): FieldFacts {
  const fields = formFields[thing].filter(({ name }) => !shown.includes(name.split('.')[0] ?? ''));
  const usual = draftOf(fields);
  const draft = draftOf(fields, stored);
  const others = fields.filter(({ name }) => JSON.stringify(draft[name]) !== JSON.stringify(usual[name]));
  return factsOf(thing, others, draft);
}

/** These settings, except empty ones. */
export function fieldFacts(thing: Thing, stored: object, names: readonly string[]): FieldFacts {
  const fields = formFields[thing].filter(({ name }) => names.includes(name));
  const draft = draftOf(fields, stored);
  return factsOf(
    thing,
    fields.filter(({ name }) => draft[name] !== ''),
    draft,
  );
}

function factsOf(thing: Thing, fields: readonly FormField[], draft: Draft): FieldFacts {
  return Object.fromEntries(
    fields.map((field) => [textsAt(thing, field.name)?.label ?? field.name, wordsOf(thing, field, draft)]),
  );
}

function wordsOf(thing: Thing, field: FormField, draft: Draft): string {
  const answer = answersOf([field], draft)[field.name];
  if (typeof answer === 'boolean') return answer ? t.connection.yes : t.connection.no;
  if (typeof answer === 'number') {
    if (field.input === 'age') return formatDuration(answer * 1_000);
    return field.input === 'number' ? formatNumber(answer) : formatBytes(answer);
  }
  if (typeof answer === 'string' && field.input === 'date-time') return formatDateTime(answer);
  const { choices } = textsAt(thing, field.name) ?? {};
  const texts = Array.isArray(answer) ? answer.map(String) : [String(draft[field.name])];
  return texts.map((text) => choices?.[text] ?? text).join(', ');
}
