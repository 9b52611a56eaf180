/** The forms of a text that depend on a count. */
import { language } from '../preferences.ts';

const rules = new Intl.PluralRules(language);

/** Chooses a form by the rules of the language. */
export function plural(
  count: number,
  forms: { readonly other: string } & Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>,
): string {
  return forms[rules.select(count)] ?? forms.other;
}
