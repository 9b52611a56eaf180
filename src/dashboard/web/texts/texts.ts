/**
 * All that the page says. There is one catalogue a language, loaded before anything is shown; another language loads the page
 * anew.
 */
import type { Language } from '../preferences.ts';
import type { Texts } from './catalogue.ts';

/** Filled by `loadTexts`. */
export const t = {} as Texts;

export async function loadTexts(language: Language): Promise<void> {
  const texts: Texts = await (language === 'de' ? import('./de/index.ts') : import('./en/index.ts'));
  Object.assign(t, texts);
  document.documentElement.lang = language;
}
