/**
 * The data that the browser needs to build and send the form of an operation: a small extract of the OpenAPI document.
 */
import { componentNameIn, parametersOf, responsesOf } from '../api/openapi/document.js';
import type { MediaType, OpenApiDocument, OperationObject, Parameter, Schema } from '../api/openapi/types.js';
import type { Field, Form, FormBody } from './form-types.js';

/** Verbs of operations that delete something, or cannot be undone. */
const DESTRUCTIVE = /^(delete|revoke|forget|end|cancel|reject|disable|unwatch|rotate|renew|move|run|logout)/;
const JSON_TYPE = 'application/json';

/** Key: operationId. */
export function formsOf(document: OpenApiDocument): Record<string, Form> {
  const forms: Record<string, Form> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      // GET already covers it.
      if (method === 'head' && item['get'] !== undefined) continue;
      forms[operation.operationId] = formOf(document, method.toUpperCase(), path, operation);
    }
  }
  return forms;
}

function formOf(document: OpenApiDocument, method: string, path: string, operation: OperationObject): Form {
  const { operationId, security, requestBody } = operation;
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, media]) => bodyOf(document, type, media));
  const success = responsesOf(document, operation).find(([status]) => /^2/.test(status))?.[1];
  return {
    method,
    path,
    access: security.length === 0 ? 'none' : security.some((one) => 'session' in one) ? 'session' : 'key',
    isDestructive: method === 'DELETE' || DESTRUCTIVE.test(operationId),
    fields: parametersOf(document, operation).map(parameterField),
    bodies,
    accepts: Object.keys(success?.content ?? {}),
  };
}

function parameterField({ name, in: place, required = false, schema, description, example }: Parameter): Field {
  const [first] = (schema['examples'] ?? []) as readonly unknown[];
  return { ...fieldOf(name, schema, required), in: place, hint: description, example: textOf(example ?? first) };
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field {
  const { enum: values, type, format, default: initial, description = '', examples = [] } = schema;
  return {
    name,
    in: 'body',
    isRequired,
    hint: textOf(description),
    example: textOf((examples as readonly unknown[])[0]),
    initial: textOf(initial),
    choices: type === 'boolean' ? ['true', 'false'] : ((values ?? []) as readonly unknown[]).map(textOf),
    isFile: format === 'binary',
  };
}

function bodyOf(document: OpenApiDocument, type: string, { schema = {}, examples = {} }: MediaType): FormBody {
  const whole = resolved(document, schema);
  const texts = Object.entries(examples).map(([name, { summary, value }]) => ({
    title: summary ?? name,
    text: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
  }));
  if (type === 'multipart/form-data') {
    const required = (whole['required'] ?? []) as readonly string[];
    const properties = Object.entries((whole['properties'] ?? {}) as Readonly<Record<string, Schema>>);
    const fields = properties.map(([name, field]) => fieldOf(name, resolved(document, field), required.includes(name)));
    return { type, kind: 'parts', fields, texts: [] };
  }
  return { type, kind: type === JSON_TYPE ? 'text' : 'file', fields: [], texts: type === JSON_TYPE ? texts : [] };
}

function resolved({ components }: OpenApiDocument, schema: Schema): Schema {
  const { $ref } = schema;
  return typeof $ref === 'string' ? (components.schemas[componentNameIn($ref)] ?? {}) : schema;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}
