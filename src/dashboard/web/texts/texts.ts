/** The texts of the page. Each language has one catalogue, which is loaded first. Another language reloads the page. */
import type { Language } from '../preferences.ts';
import type { Texts } from './catalogue.ts';

/** Filled by `loadTexts`. */
export const t = {} as Texts;

export async function loadTexts(language: Language): Promise<void> {
  const texts: Texts = await (language === 'de' ? import('./de/index.ts') : import('./en/index.ts'));
  Object.assign(t, texts);
  document.documentElement.lang = language;
}
