/**
 * The English meaning and remedy of each code. Bundles for browsers contain only these texts (src/build/derived.ts).
 */
import { type ErrorCode, ERROR_CODES, ERRORS, type ErrorTexts } from '../errors.js';

export const errors: Readonly<Record<ErrorCode, ErrorTexts>> = Object.fromEntries(
  ERROR_CODES.map((code) => {
    const { meaning, remedy } = ERRORS[code];
    return [code, { meaning, remedy }];
  }),
) as Record<ErrorCode, ErrorTexts>;
