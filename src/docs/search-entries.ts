/** The entries of the search: sections of pages, names in their tables, operations and their fields. */
import { componentNameIn, parametersOf } from '../api/openapi/document.js';
import type { OpenApiDocument, OperationObject, Schema } from '../api/openapi/types.js';
import type { Rendered } from './markdown.js';
import type { Found } from './search.js';

/** A table row has less information than a section; a search for its whole name still finds it first. */
const OF_A_NAME = 0.6;

export function entriesOfPage(address: string, page: string, { sections }: Rendered, weight: number): Found[] {
  return sections.map(({ id, title, text }) => ({
    title: id === '' ? page : title,
    page,
    address: id.startsWith('/') ? id : id === '' ? address : `${address}#${id}`,
    text,
    weight: id.startsWith('name-') ? weight * OF_A_NAME : weight,
  }));
}

export function entriesOfReference(address: string, document: OpenApiDocument, weight: number): Found[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'head' || item['get'] === undefined)
      .map(([method, operation]) => ({
        title: operation.summary,
        page: `${document.info.title} API`,
        address: `${address}#${operation.operationId}`,
        text: `${method.toUpperCase()} ${path} ${operation.description} ${fieldsOf(document, operation)}`.replace(
          /\s+/g,
          ' ',
        ),
        weight,
      })),
  );
}

function fieldsOf(document: OpenApiDocument, operation: OperationObject): string {
  const parameters = parametersOf(document, operation).filter(({ in: place }) => place !== 'header');
  const fields = Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema = {} }) => {
    const { $ref } = schema;
    const whole: Schema =
      typeof $ref === 'string' ? (document.components.schemas[componentNameIn($ref)] ?? {}) : schema;
    return Object.entries((whole['properties'] ?? {}) as Readonly<Record<string, Schema>>);
  });
  return [
    ...parameters.map(({ name, description }) => `${name}: ${description}`),
    ...fields.map(([name, { description }]) => `${name}: ${typeof description === 'string' ? description : ''}`),
  ].join(' ');
}
