/**
 * The values that a schema of an OpenAPI document allows, as far as types can express them: without limits and formats.
 */
import { capital } from '../../base/letters.js';
import { componentNameIn, parametersOf } from '../../api/openapi/document.js';
import type { OpenApiDocument, Parameter, Schema } from '../../api/openapi/types.js';

export type Shape =
  | { readonly kind: 'reference'; readonly name: string }
  | { readonly kind: 'simple'; readonly type: SimpleType }
  | { readonly kind: 'values'; readonly values: readonly unknown[] }
  | { readonly kind: 'list'; readonly items: Shape }
  | { readonly kind: 'map'; readonly values: Shape }
  | ObjectShape
  | { readonly kind: 'union'; readonly forms: readonly Shape[] };

export interface ObjectShape {
  readonly kind: 'object';
  readonly fields: readonly Field[];
  /** Fields of any other name are allowed. */
  readonly isOpen: boolean;
  /** It also has the fields of one of these. */
  readonly forms: readonly Shape[];
}

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
  /** With its `description`, `format`, `default` and `example`. */
  readonly schema: Schema;
}

const SIMPLE_TYPES = ['string', 'integer', 'number', 'boolean', 'null', 'any'] as const;
export type SimpleType = (typeof SIMPLE_TYPES)[number];

const ANY: Shape = { kind: 'simple', type: 'any' };

export function shapeOf(schema: Schema): Shape {
  if (typeof schema['$ref'] === 'string') return { kind: 'reference', name: componentNameIn(schema['$ref']) };
  const forms = (schema['oneOf'] ?? schema['anyOf']) as readonly Schema[] | undefined;
  if (forms !== undefined) return unionOf(forms);
  if ('const' in schema) return { kind: 'values', values: [schema['const']] };
  if (Array.isArray(schema['enum'])) return { kind: 'values', values: schema['enum'] };
  const { type } = schema;
  if (Array.isArray(type)) return unionOf((type as readonly string[]).map((one) => ({ ...schema, type: one })));
  if (type === 'array') return { kind: 'list', items: shapeOf(schema['items'] as Schema) };
  if (type === 'object') return objectOf(schema);
  const simple = SIMPLE_TYPES.find((one) => one === type);
  if (simple !== undefined) return { kind: 'simple', type: simple };
  if (Object.keys(schema).length === 0) return ANY;
  throw new Error(`there is no type for ${JSON.stringify(schema)}`);
}

function unionOf(forms: readonly Schema[]): Shape {
  if (forms.every((form) => 'const' in form)) return { kind: 'values', values: forms.map((form) => form['const']) };
  return { kind: 'union', forms: forms.map(shapeOf) };
}

function objectOf(schema: Schema): Shape {
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>);
  const others = schema['additionalProperties'];
  if (properties.length === 0) {
    const [pattern] = Object.values((schema['patternProperties'] ?? {}) as Readonly<Record<string, Schema>>);
    const values = typeof others === 'object' ? (others as Schema) : pattern;
    return { kind: 'map', values: values === undefined ? ANY : shapeOf(values) };
  }
  const required = (schema['required'] ?? []) as readonly string[];
  const fields = properties.map(([name, one]) => fieldOf(name, one, required.includes(name)));
  // Types have no `if`: each form is possible.
  const conditions = (schema['allOf'] ?? []) as readonly { readonly then: Schema }[];
  return { kind: 'object', fields, isOpen: others === true, forms: conditions.map(({ then }) => shapeOf(then)) };
}

/** The query of an operation. */
interface Query {
  /** `operationId` in the form of a type name. */
  readonly operation: string;
  readonly fields: readonly Field[];
}

export function queriesOf(document: OpenApiDocument): Query[] {
  return Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .filter(({ operationId }) => !operationId.endsWith('Head'))
    .map((operation) => ({
      operation: capital(operation.operationId),
      fields: parametersOf(document, operation).filter(isInQuery).map(queryField),
    }))
    .filter(({ fields }) => fields.length > 0);
}

/**
 * The JSON answers of all operations, by method and path: `GET /api/jobs/{}`. Parameters have no names there, so that a
 * type of an address can be looked up.
 */
export function answersOf(document: OpenApiDocument): Field[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) => {
      const schemas = Object.entries(responses).flatMap(([status, answer]): readonly Schema[] => {
        const schema =
          status.startsWith('2') && 'content' in answer ? answer.content?.['application/json']?.schema : undefined;
        return schema === undefined ? [] : [schema];
      });
      const name = `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`;
      return schemas.length === 0 ? [] : [{ name, shape: unionOf(schemas), isRequired: true, schema: {} }];
    }),
  );
}

const isInQuery = (parameter: Parameter): boolean => parameter.in === 'query';

function queryField({ name, schema, description, required = false }: Parameter): Field {
  return fieldOf(name, { ...schema, description }, required);
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field {
  return { name, shape: shapeOf(schema), isRequired, schema };
}
