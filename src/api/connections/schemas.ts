/** Requests and answers of the API about connections, derived from the definitions of their types. */
import { type Static, Type } from 'typebox';
import { capital } from '../../base/letters.js';
import { component, text, type TSchemaOf } from '../../contract/schema.js';
import type { ConnectionType } from '../../contract/connection/types.js';
import type { Definition, Values } from '../../contract/connection/definition.js';
import { connectionFields } from '../../contract/connection/fields.js';
import { changeSchema, fieldsOf, formSchema, inputSchema, shownFieldsOf } from '../../contract/connection/schemas.js';
import { shownFields } from '../../contract/thing.js';
import { cardSettings } from './card-settings.js';
import { card } from './test-report.js';

/** After the schema check: the fields of its type and no others. */
export type ConnectionInput = Values & {
  readonly id?: string;
  readonly name: string;
  readonly type: ConnectionType;
  readonly isActive: boolean;
  readonly hostKeys?: readonly string[];
  readonly keyPairId?: string | null;
};

type ByType = Readonly<Record<string, object>>;

export function connectionSchemas(definitions: readonly Definition[]) {
  const { schema: name } = connectionFields.name;
  const schemasOf = (make: (definition: Definition) => object): ByType =>
    Object.fromEntries(definitions.map((definition) => [definition.type, make(definition)]));
  /** One schema for each type, selected by its name: an error message is about the type in the request. */
  const byType = (schemas: ByType): TSchemaOf<ConnectionInput> =>
    Type.Unsafe({
      type: 'object',
      required: ['type', 'name'],
      properties: { type: { type: 'string', enum: Object.keys(schemas), description: 'Protocol.' }, name },
      allOf: Object.entries(schemas).map(([type, schema]) => ({
        if: { required: ['type'], properties: { type: { const: type } } },
        then: schema,
      })),
    });
  const inputs = schemasOf((definition) => componentOfType(definition, 'ConnectionInput', inputSchema(definition)));
  const hasRequired = ({ secrets }: Definition): boolean =>
    Object.values(secrets).some(({ isNeeded }) => isNeeded === true);
  const secrets = definitions.flatMap(fieldsOf).filter(({ isSecret }) => isSecret);
  return {
    create: component('ConnectionInput', byType(inputs)),
    /** Secrets may come from the connection on which the draft is based. */
    draft: component(
      'ConnectionDraft',
      byType(
        schemasOf((definition) =>
          hasRequired(definition) ? inputSchema(definition, true) : (inputs[definition.type] ?? {}),
        ),
      ),
    ),
    /** The fields of any type; the connection decides which ones are valid. */
    changes: component(
      'ConnectionChanges',
      Type.Unsafe<Values>({
        type: 'object',
        minProperties: 1,
        properties: Object.assign(
          {},
          ...definitions.map((definition) => changeSchema(definition).properties),
        ) as ByType,
      }),
    ),
    secrets: Object.fromEntries(secrets.map((field) => [field.name, field.schema])),
  };
}

/** `SftpConnectionInput` and so on. */
function componentOfType({ type }: Definition, suffix: string, schema: object): object {
  return component(`${capital(type)}${suffix}`, schema);
}

/** Key: the type. */
export function connectionAnswers(definitions: readonly Definition[]): Readonly<Record<string, object>> {
  const answers = definitions.map((definition) => {
    // Lists omit the card, and what is set.
    const fields = {
      ...shownFields(shownFieldsOf(definition), 'owner'),
      card: Type.Optional(card),
      set: Type.Optional(cardSettings),
    };
    return [definition.type, componentOfType(definition, 'Connection', Type.Object(fields))] as const;
  });
  return Object.fromEntries(answers);
}

const names = (description: string) => Type.Array(Type.String(), { description });

export const connectionTypeSchema = component(
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

export function describedType(definition: Definition): Static<typeof connectionTypeSchema> {
  const fields = fieldsOf(definition);
  const { type, title, secrets, address } = definition;
  return {
    type,
    title,
    schema: formSchema(definition),
    advanced: fields.filter(({ isAdvanced }) => isAdvanced === true).map(({ name }) => name),
    multiline: fields.filter(({ isLong }) => isLong).map(({ name }) => name),
    address: [...address],
    sent: Object.keys(secrets).filter((name) => secrets[name]?.isSent === true && secrets[name].partOf === undefined),
  };
}
