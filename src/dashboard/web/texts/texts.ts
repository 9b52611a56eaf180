/** The texts of the page, in one language. Another language reloads the page. */
import type { Language } from '../../../contract/language.ts';
import { language } from '../preferences.ts';
import type { FirstTexts, LaterTexts, Texts } from './catalogue.ts';

/** Filled by the functions below. */
export const t = {} as Texts;

export async function loadFirstTexts(of: Language = language): Promise<void> {
  const texts: FirstTexts = await (of === 'de' ? import('./de/first.ts') : import('./en/first.ts'));
  Object.assign(t, texts);
  document.documentElement.lang = of;
}

/** Loads the texts of all other screens. */
export async function loadLaterTexts(of: Language = language): Promise<void> {
  const texts: LaterTexts = await (of === 'de' ? import('./de/later.ts') : import('./en/later.ts'));
  Object.assign(t, texts);
}
