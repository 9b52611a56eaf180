/** What each code means and what to do, in English. Bundles for browsers have these texts alone (src/build/derived.ts). */
import { type ErrorCode, ERROR_CODES, ERRORS, type ErrorTexts } from '../errors.js';

export const errors: Readonly<Record<ErrorCode, ErrorTexts>> = Object.fromEntries(
  ERROR_CODES.map((code) => {
    const { meaning, remedy } = ERRORS[code];
    return [code, { meaning, remedy }];
  }),
) as Record<ErrorCode, ErrorTexts>;
