/**
 * The schemas of an OpenAPI document as Python types: the arguments and results of a client are dictionaries of these
 * types.
 */
import { camel, capital } from '../../base/letters.js';
import type { OpenApiDocument } from '../../api/openapi/types.js';
import { type Field, type ObjectShape, queriesOf, type Shape, shapeOf, type SimpleType } from './shapes.js';

const HEAD = `"""What the API takes and answers: dictionaries, with the fields of its documents.

Made by the build from the OpenAPI document.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired
`;

const SIMPLE: Readonly<Record<SimpleType, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
  any: 'Any',
};

/** Names that a class cannot have as fields. */
const KEYWORDS = new Set(['from', 'import', 'class', 'def', 'in', 'is', 'not', 'or', 'and', 'None', 'pass', 'global']);

/** Types of all schemas. `WebhookEvent` is the union of the events that a webhook can receive, by their `type`. */
export function pythonTypes(document: OpenApiDocument): string {
  const schemas = Object.entries(document.components.schemas);
  const writer = new Writer();
  for (const [name, schema] of schemas) writer.define(name, shapeOf(schema));
  for (const { operation, fields } of queriesOf(document)) {
    for (const { name, shape } of fields) if (shape.kind === 'values') writer.define(queryName(operation, name), shape);
  }
  const events = schemas.map(([name]) => name).filter((name) => name.endsWith('Event') && name !== 'FeedEvent');
  const union = `WebhookEvent = Union[\n${events.map((name) => `    ${name},\n`).join('')}]\n`;
  return `${[HEAD, ...writer.definitions, union].join('\n\n')}`;
}

class Writer {
  readonly definitions: string[] = [];
  readonly #names = new Set<string>();

  define(name: string, shape: Shape): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    if (shape.kind === 'object') this.#defineObject(name, shape);
    else this.definitions.push(`${name} = ${this.#typeOf(shape, name)}\n`);
  }

  #defineObject(name: string, shape: ObjectShape): void {
    const fields = shape.fields.map(({ name: field, shape: one, isRequired, schema }) => {
      const type = this.#typeOf(one, `${name}${capital(field)}`);
      return { field, type: isRequired ? type : `NotRequired[${type}]`, words: schema['description'] };
    });
    if (fields.some(({ field }) => !/^[A-Za-z_]\w*$/.test(field) || KEYWORDS.has(field))) {
      const lines = fields.map(({ field, type }) => `        ${JSON.stringify(field)}: ${JSON.stringify(type)},\n`);
      this.definitions.push(`${name} = TypedDict(\n    "${name}",\n    {\n${lines.join('')}    },\n)\n`);
      return;
    }
    const lines = fields.map(({ field, type, words }) => `    ${field}: ${type}\n${documented(words)}`);
    this.definitions.push(`class ${name}(TypedDict):\n${lines.join('')}`);
  }

  #typeOf(shape: Shape, name: string): string {
    return typeOf(shape, name, (object, inner) => {
      if (inner !== undefined) this.define(object, inner);
      return object;
    });
  }
}

/** The type of a field in a module that imports these types as `api`. `name` is that of its own definition, if any. */
export function typeInModule(shape: Shape, name: string): string {
  return typeOf(shape, name, (object) => `api.${object}`);
}

export function queryFieldType(operation: string, { name, shape }: Field): string {
  const own = queryName(operation, name);
  return shape.kind === 'values' ? `api.${own}` : typeInModule(shape, own);
}

const queryName = (operation: string, field: string): string => `${operation}${capital(camel(field))}`;

/** Returns the type with the name; `shape` is that of an object without a schema of its own. */
type Named = (name: string, shape?: ObjectShape) => string;

/** `name` is the name of a definition, if one is made. */
function typeOf(shape: Shape, name: string, named: Named): string {
  switch (shape.kind) {
    case 'reference':
      return named(shape.name);
    case 'simple':
      return SIMPLE[shape.type];
    case 'values':
      return `Literal[${shape.values.map(literal).join(', ')}]`;
    case 'list':
      return `List[${typeOf(shape.items, `${name}Item`, named)}]`;
    case 'map':
      return `Dict[str, ${typeOf(shape.values, name, named)}]`;
    case 'object':
      return named(name, shape);
    case 'union':
      return unionOf(shape.forms, name, named);
  }
}

function unionOf(forms: readonly Shape[], name: string, named: Named): string {
  const types = forms.filter((form) => !isNull(form)).map((form) => typeOf(form, name, named));
  const one = types.length === 1 ? (types[0] ?? '') : `Union[${types.join(', ')}]`;
  return types.length < forms.length ? `Optional[${one}]` : one;
}

const isNull = (shape: Shape): boolean => shape.kind === 'simple' && shape.type === 'null';

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

/** Below the field, where editors look for it. */
function documented(words: unknown): string {
  if (typeof words !== 'string') return '';
  return `    """${words.replaceAll('\\', '\\\\').replaceAll('"""', "'''").replace(/"$/, '" ')}"""\n`;
}
