/** The texts that each language must have. A missing text is a compile error. */
import type * as first from './en/first.ts';
import type * as later from './en/later.ts';

/** The texts of the login, the shell and the overview. */
export type FirstTexts = typeof first;
export type LaterTexts = typeof later;
export type Texts = FirstTexts & LaterTexts;
