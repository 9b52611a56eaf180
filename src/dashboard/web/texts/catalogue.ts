/** The texts that each language must have. A missing text is a compile error. */
import type * as english from './en/index.ts';

export type Texts = typeof english;
