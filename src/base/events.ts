/** What all events have in common: their types, their schemas, and what their number adds to their bodies. */
import { Type, type TSchema } from 'typebox';
import { component, count, dateTime, text, textOrNull } from '../contract/schema.js';

export interface EventDefinition {
  /** `type` of the event. */
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly schema: TSchema;
  readonly example: object;
}

/** Bytes by which an event grows when it gets its number. */
export const NUMBERED_BYTES =
  '{"sequence":,"id":"","previousId":"",'.length +
  2 * crypto.randomUUID().length +
  String(Number.MAX_SAFE_INTEGER).length;

const AT = '2026-01-31T12:00:00.000Z';

/** `data`: the schema of the event's data, and an example of it. */
export function eventDefinition(
  name: string,
  schemaName: string,
  words: Pick<EventDefinition, 'operationId' | 'summary'>,
  data: TSchema,
  example: object,
  timestamp = AT,
): EventDefinition {
  const whole = Type.Object({
    sequence: Type.Optional(count('Its number among the events of the account, from 1 and without holes.')),
    id: Type.Optional(text('Identifies the event; the `webhook-id` of its deliveries.')),
    previousId: Type.Optional(
      textOrNull('`id` of the event before it; null of the first. Who has not seen that one asks `GET /api/events`.'),
    ),
    type: Type.Literal(name, { description: 'Kind of event.' }),
    timestamp: dateTime('When it happened.'),
    data,
  });
  const numbered = { sequence: 42, id: EVENT_ID, previousId: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d00c' };
  return {
    name,
    ...words,
    schema: component(schemaName, whole),
    example: { ...numbered, type: name, timestamp, data: example },
  };
}

export const EVENT_ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d00d';
