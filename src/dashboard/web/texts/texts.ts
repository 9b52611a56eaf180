/** The texts of the page, in one language. Another language reloads the page. */
import type { Language } from '../../../contract/languages.ts';
import { language } from '../preferences.ts';
import type { FirstTexts, LaterTexts, Texts } from './catalogue.ts';

const FIRST: Readonly<Record<Language, () => Promise<FirstTexts>>> = {
  en: () => import('./en/first.ts'),
  de: () => import('./de/first.ts'),
};
const LATER: Readonly<Record<Language, () => Promise<LaterTexts>>> = {
  en: () => import('./en/later.ts'),
  de: () => import('./de/later.ts'),
};

/** Filled by the functions below. */
export const t = {} as Texts;

export async function loadFirstTexts(of: Language = language): Promise<void> {
  Object.assign(t, await FIRST[of]());
  document.documentElement.lang = of;
}

/** Loads the texts of all other screens. */
export async function loadLaterTexts(of: Language = language): Promise<void> {
  Object.assign(t, await LATER[of]());
}
