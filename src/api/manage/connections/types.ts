/** What a form needs to know of the types of connections. */
import { type Static, Type } from 'typebox';
import { component, text } from '../../../base/schema.js';
import type { Definition } from '../../../connections/definition.js';
import { fieldsOf, formSchema } from '../../../connections/schemas.js';
import { CONNECTION_TYPES } from '../../../connections/types.js';
import { ownerEndpoints } from '../services.js';

const endpoint = ownerEndpoints('Connections');

const names = (description: string) => Type.Array(Type.String(), { description });

const connectionType = component(
  'ConnectionType',
  Type.Object({
    type: text('`type` of its connections.'),
    title: text('What people call it.'),
    schema: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'JSON Schema of what `POST /manage/connections` takes, its properties in the order of a form: `title` is the label, `description` the hint, `writeOnly` marks secrets, a choice is a `oneOf` of constants with titles.',
    }),
    advanced: names('Fields that few change.'),
    multiline: names('Fields whose text has several lines.'),
    address: names('Fields that name the server.'),
    sent: names('Secrets that must be given again when one of `address` changes.'),
  }),
);

export function describedType(definition: Definition): Static<typeof connectionType> {
  const fields = fieldsOf(definition);
  const { type, title, secrets, address } = definition;
  return {
    type,
    title,
    schema: formSchema(definition),
    advanced: fields.filter(({ isAdvanced }) => isAdvanced).map(({ name }) => name),
    multiline: fields.filter(({ isLong }) => isLong === true).map(({ name }) => name),
    address: [...address],
    sent: Object.keys(secrets).filter((name) => secrets[name]?.isSent === true),
  };
}

export const listConnectionTypes = endpoint('GET /manage/connection-types', {
  operationId: 'listConnectionTypes',
  summary: 'List the types of connections',
  description: 'The fields of each type, as the dashboard draws its form from.',
  answer: {
    description: 'The types.',
    schema: component(
      'ConnectionTypesAnswer',
      Type.Object({ connectionTypes: Type.Array(connectionType, { description: 'In the order of a form.' }) }),
    ),
    example: { connectionTypes: CONNECTION_TYPES.map(describedType) },
  },
}).handle(async () => ({ connectionTypes: CONNECTION_TYPES.map(describedType) }));
