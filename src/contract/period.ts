/** The filter of lists by time. Both ends are exclusive. */
import { Type } from 'typebox';
import { LATER, TIME } from './examples.js';
import { text } from './schema.js';

const time = (description: string, example: string) =>
  Type.Optional(text(description, { minLength: 1, maxLength: 64, examples: [example] }));

export const periodFields = {
  since: time('Only newer ones: an ISO 8601 date-time, or Unix seconds.', TIME),
  until: time('Only older ones: an ISO 8601 date-time, or Unix seconds.', LATER),
};
