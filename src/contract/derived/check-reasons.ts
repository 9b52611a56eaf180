/** The English texts of reasons. Bundles for browsers contain only these texts (src/build/derived.ts). */
import { CHECK_REASONS, type CheckReason } from '../watch-check.js';

export const reasons = Object.fromEntries(
  Object.entries(CHECK_REASONS).map(([reason, { text }]) => [reason, text]),
) as Readonly<Record<CheckReason, string>>;
