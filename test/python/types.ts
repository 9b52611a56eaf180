/** The schemas of an OpenAPI document as types of Python: what a client takes and gives are dictionaries of these. */
import type { OpenApiDocument, Schema } from '../../src/api/openapi/types.js';
import { parametersOf } from '../../src/api/openapi/document.js';

const HEAD = `"""What the API takes and answers: dictionaries, with the fields of its documents.

Made from the OpenAPI document by "npm run generate".
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired
`;

const SIMPLE: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

/** Names that a class cannot have as fields. */
const KEYWORDS = new Set(['from', 'import', 'class', 'def', 'in', 'is', 'not', 'or', 'and', 'None', 'pass', 'global']);

/** `WebhookEvent` is all that a webhook can bring, told apart by \`type\`. */
export function pythonTypes(document: OpenApiDocument): string {
  const schemas = Object.entries(document.components.schemas);
  const writer = new Writer();
  for (const [name, schema] of schemas) writer.define(name, schema);
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    for (const { name, in: place, schema } of parametersOf(document, operation)) {
      if (place !== 'query' || !Array.isArray(schema['enum']) || operation.operationId.endsWith('Head')) continue;
      writer.define(`${upper(operation.operationId)}${upper(camel(name))}`, schema);
    }
  }
  const events = schemas.map(([name]) => name).filter((name) => name.endsWith('Event') && name !== 'FeedEvent');
  const union = `WebhookEvent = Union[\n${events.map((name) => `    ${name},\n`).join('')}]\n`;
  return `${[HEAD, ...writer.definitions, union].join('\n\n')}`;
}

class Writer {
  readonly definitions: string[] = [];
  readonly #names = new Set<string>();

  define(name: string, schema: Schema): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    const { properties } = schema;
    if (properties === undefined) this.definitions.push(`${name} = ${this.#typeOf(schema, name)}\n`);
    else this.#defineObject(name, schema, properties as Readonly<Record<string, Schema>>);
  }

  #defineObject(name: string, schema: Schema, properties: Readonly<Record<string, Schema>>): void {
    const required = (schema['required'] ?? []) as readonly string[];
    const fields = Object.entries(properties).map(([field, one]) => {
      const type = this.#typeOf(one, `${name}${upper(field)}`);
      return { field, type: required.includes(field) ? type : `NotRequired[${type}]`, words: one['description'] };
    });
    if (fields.some(({ field }) => !/^[A-Za-z_]\w*$/.test(field) || KEYWORDS.has(field))) {
      const lines = fields.map(({ field, type }) => `        ${JSON.stringify(field)}: ${JSON.stringify(type)},\n`);
      this.definitions.push(`${name} = TypedDict(\n    "${name}",\n    {\n${lines.join('')}    },\n)\n`);
      return;
    }
    const lines = fields.map(({ field, type, words }) => `    ${field}: ${type}\n${documented(words)}`);
    this.definitions.push(`class ${name}(TypedDict):\n${lines.join('') || '    pass\n'}`);
  }

  /** `name` is that of a definition, where it takes one. */
  #typeOf(schema: Schema, name: string): string {
    if (typeof schema['$ref'] === 'string') return schema['$ref'].split('/').pop() ?? '';
    const forms = (schema['oneOf'] ?? schema['anyOf']) as readonly Schema[] | undefined;
    if (forms !== undefined) return this.#union(forms, name);
    const values = 'const' in schema ? [schema['const']] : (schema['enum'] as readonly unknown[] | undefined);
    if (values !== undefined) return `Literal[${values.map(literal).join(', ')}]`;
    const { type } = schema;
    if (Array.isArray(type)) {
      const each = (type as readonly string[]).map((one) => ({ ...schema, type: one }));
      return this.#union(each, name);
    }
    if (type === 'array') return `List[${this.#typeOf(schema['items'] as Schema, `${name}Item`)}]`;
    if (type === 'object') return this.#objectType(schema, name);
    const simple = SIMPLE[String(type)];
    if (simple === undefined) throw new Error(`${name}: there is no type for ${JSON.stringify(schema)}`);
    return simple;
  }

  #objectType(schema: Schema, name: string): string {
    const { properties, additionalProperties, patternProperties } = schema;
    if (Object.keys(properties ?? {}).length > 0) {
      this.define(name, schema);
      return name;
    }
    const [pattern] = Object.values((patternProperties ?? {}) as Readonly<Record<string, Schema>>);
    const isSchema = additionalProperties !== undefined && typeof additionalProperties !== 'boolean';
    const values = isSchema ? (additionalProperties as Schema) : pattern;
    return `Dict[str, ${values === undefined ? 'Any' : this.#typeOf(values, name)}]`;
  }

  #union(forms: readonly Schema[], name: string): string {
    if (forms.every((form) => 'const' in form))
      return `Literal[${forms.map((form) => literal(form['const'])).join(', ')}]`;
    const types = forms.filter(({ type }) => type !== 'null').map((form) => this.#typeOf(form, name));
    const one = types.length === 1 ? (types[0] ?? '') : `Union[${types.join(', ')}]`;
    return types.length < forms.length ? `Optional[${one}]` : one;
  }
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

/** Below the field, where editors look for it. */
function documented(words: unknown): string {
  if (typeof words !== 'string') return '';
  return `    """${words.replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '" ')}"""\n`;
}

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const camel = (text: string): string => text.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
