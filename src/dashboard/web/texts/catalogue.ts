/** What each language has to say. A text that one lacks is an error of the compiler. */
import type * as english from './en/index.ts';

export type Texts = typeof english;
