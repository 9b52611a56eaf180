/** JSON Schemas of a connection as its owner writes it: what the router checks and an OpenAPI document shows. */
import { Type } from 'typebox';
import { component, type TSchemaOf } from '../../base/schema.js';
import { columns } from '../../connections/common.js';
import type { ConnectionType } from '../../connections/connection.js';
import type { Definition, Values } from '../../connections/definition.js';
import { changeSchema, fieldsOf, inputSchema, settingField } from '../../connections/schemas.js';
import { CONNECTION_TYPES } from '../../connections/types.js';

/** As the schemas let it through: the fields of its type and no others. */
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
  const { schema: name } = settingField('name', columns.name);
  const schemasOf = (make: (definition: Definition) => object): ByType =>
    Object.fromEntries(definitions.map((definition) => [definition.type, make(definition)]));
  /** One schema for each type behind its name, so that a mistake is told for the type that was meant. */
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
  const hasRequired = ({ secrets }: Definition): boolean => Object.values(secrets).some(({ isRequired }) => isRequired);
  const secrets = definitions.flatMap(fieldsOf).filter(({ isSecret }) => isSecret);
  return {
    create: component('ConnectionInput', byType(inputs)),
    /** Secrets may come from the connection that the draft is based on. */
    draft: component(
      'ConnectionDraft',
      byType(
        schemasOf((definition) =>
          hasRequired(definition) ? inputSchema(definition, true) : (inputs[definition.type] ?? {}),
        ),
      ),
    ),
    /** The fields of any type; which ones fit is known with the connection. */
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

export const schemas = connectionSchemas(CONNECTION_TYPES);

/** `SftpConnectionInput` and its like. */
export function componentOfType({ type }: Definition, suffix: string, schema: object): object {
  return component(`${type.charAt(0).toUpperCase()}${type.slice(1)}${suffix}`, schema);
}
