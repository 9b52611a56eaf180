/** The query parameters of lists that come page by page. */
import { type TInteger, Type } from 'typebox';
import { count, withDefault } from './schema.js';

export const limit = (maximum: number, otherwise: number, example = otherwise, words = 'Items a page.'): TInteger =>
  withDefault(Type.Integer({ minimum: 1, maximum, description: words, examples: [example] }), otherwise);

export const offset = (): TInteger =>
  withDefault(count('Items to pass over.', { maximum: 1_000_000_000, examples: [0] }), 0);
