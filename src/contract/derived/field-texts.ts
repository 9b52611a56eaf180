/** The English texts of fields. Bundles for browsers contain only these texts (src/build/derived.ts). */
import type { Fields } from '../thing.js';
import { THINGS, type ThingTexts } from '../things.js';

const textsIn = (fields: Fields): object =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) =>
      'texts' in field && field.texts !== undefined ? [[name, field.texts]] : [],
    ),
  );

export const fields = Object.fromEntries(
  Object.entries(THINGS).map(([thing, of]) => [thing, textsIn(of)]),
) as object as ThingTexts;
