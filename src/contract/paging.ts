/** The query parameters of lists that come page by page. */
import { type TInteger, Type } from 'typebox';
import { count, withDefault } from './schema.js';

const LIMIT = 'Items a page.';
export const limit = (maximum: number, otherwise: number, example = otherwise, words = LIMIT): TInteger =>
  withDefault(Type.Integer({ minimum: 1, maximum, description: words, examples: [example] }), otherwise);

const OFFSET = 'Items to pass over.';
export const offset = (): TInteger => withDefault(count(OFFSET, { maximum: 1_000_000_000, examples: [0] }), 0);

/** In the answer: the page as it was asked for. */
export const askedPage = { limit: count(LIMIT), offset: count(OFFSET) };
