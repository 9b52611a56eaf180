import type { Static } from 'typebox';
import { object, oneOf, text } from '../base/schema.js';
import type { Connection } from './connection.js';
import { CONNECTION_TYPES } from './types.js';

export const summaryFields = {
  id: text('Identifier.'),
  name: text('Shown to people.'),
  type: oneOf(
    CONNECTION_TYPES.map(({ type }) => type),
    'Protocol.',
  ),
};

/** A connection, where something is told of it. */
export const connectionSummary = object('ConnectionSummary', summaryFields);

export function summaryOf({ id, name, type }: Connection): Static<typeof connectionSummary> {
  return { id, name, type };
}
