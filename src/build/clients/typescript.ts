/**
 * The schemas of an OpenAPI document as TypeScript types, `components['schemas']['Job']`, with one more type for the
 * query of each operation; and the answers of the operations, `components['answers']['GET /api/jobs/{}']`.
 */
import type { OpenApiDocument, Schema } from '../../api/openapi/types.js';
import { answersOf, type Field, type ObjectShape, queriesOf, type Shape, shapeOf, type SimpleType } from './shapes.js';

const SIMPLE: Readonly<Record<SimpleType, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  any: 'unknown',
};

export function typescriptTypes(document: OpenApiDocument): string {
  const schemas = Object.entries(document.components.schemas).map(([name, schema]): Field => {
    return { name, shape: shapeOf(schema), isRequired: true, schema };
  });
  const queries = queriesOf(document).map(({ operation, fields }): Field => {
    const shape: Shape = { kind: 'object', fields, isOpen: false, forms: [] };
    return { name: `${operation}Query`, shape, isRequired: true, schema: {} };
  });
  const blocks = { schemas: blockOf([...schemas, ...queries], '  '), answers: blockOf(answersOf(document), '  ') };
  const text = Object.entries(blocks).map(([name, block]) => `  ${name}: ${block};\n`);
  return `/* Made by the build from the OpenAPI document. */\nexport interface components {\n${text.join('')}}\n`;
}

function blockOf(fields: readonly Field[], indent: string): string {
  const inner = `${indent}  `;
  const lines = fields.map(({ name, shape, isRequired, schema }) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${commentOf(schema, inner)}${inner}readonly ${key}${isRequired ? '' : '?'}: ${typeOf(shape, inner)};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

function typeOf(shape: Shape, indent: string): string {
  switch (shape.kind) {
    case 'reference':
      return `components['schemas']['${shape.name}']`;
    case 'simple':
      return SIMPLE[shape.type];
    case 'values':
      return shape.values.map(literal).join(' | ');
    case 'list':
      return `readonly ${grouped(shape.items, indent)}[]`;
    case 'map':
      return `{ readonly [key: string]: ${typeOf(shape.values, indent)} }`;
    case 'object':
      return objectType(shape, indent);
    case 'union':
      return shape.forms.map((form) => typeOf(form, indent)).join(' | ');
  }
}

function objectType({ fields, isOpen, forms }: ObjectShape, indent: string): string {
  const parts = [blockOf(fields, indent)];
  if (isOpen) parts.push('{ readonly [key: string]: unknown }');
  if (forms.length > 0) parts.push(`(${typeOf({ kind: 'union', forms }, indent)})`);
  return parts.join(' & ');
}

function literal(value: unknown): string {
  return typeof value === 'string' && !/['\\\n]/.test(value) ? `'${value}'` : JSON.stringify(value);
}

/** In the form for the items of a list. */
function grouped(shape: Shape, indent: string): string {
  const type = typeOf(shape, indent);
  return shape.kind === 'reference' || shape.kind === 'simple' || shape.kind === 'map' ? type : `(${type})`;
}

/** Shown by editors. */
function commentOf({ description, format, default: usual, example }: Schema, indent: string): string {
  const lines = [
    ...(typeof description === 'string' ? description.split('\n') : []),
    ...(typeof format === 'string' ? [`Format: ${format}`] : []),
    ...(usual === undefined ? [] : [`@default ${JSON.stringify(usual)}`]),
    ...(example === undefined ? [] : [`@example ${JSON.stringify(example)}`]),
  ].map((line) => line.replaceAll('*/', '*\\/'));
  if (lines.length === 0) return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}
