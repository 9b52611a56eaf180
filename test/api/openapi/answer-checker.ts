/** Compares real answers with the OpenAPI document: status, header fields and body must match it. */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { responsesOf } from '../../../src/api/openapi/document.js';
import type { Header, OpenApiDocument, Reference, Response } from '../../../src/api/openapi/types.js';

export interface CheckedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** Fields of HTTP itself and of the front end, which no document lists. */
const UNLISTED = new Set([
  'uwebsockets',
  'connection',
  'date',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-type',
]);

export class AnswerChecker {
  readonly #document: OpenApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  /** `get /api/me 200` for every checked answer. */
  readonly seen = new Set<string>();
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    this.#document = document;

    addFormats.default(this.#ajv);
    this.#ajv.addSchema(closed(document) as object, 'openapi');
  }

  check(method: string, path: string, answer: CheckedAnswer): void {
    const name = `${method.toLowerCase()} ${path} ${answer.status}`;
    const body = answer.bytes.toString();
    const operation = this.#document.paths[path]?.[method.toLowerCase()];
    assert.ok(operation, `${name} is not in the document`);
    const [, response] =
      responsesOf(this.#document, operation).find(([status]) => status === String(answer.status)) ?? [];
    assert.ok(response, `${name} is not in the document: ${body.slice(0, 200)}`);
    this.seen.add(name);
    this.#checkHeaders(name, response, answer);
    const code = answer.headers['x-error-code'];
    const codes: readonly string[] = operation['x-error-codes'] ?? [];
    assert.ok(code === undefined || codes.includes(String(code)), `${name}: ${String(code)} is not among its codes`);
    const type = String(answer.headers['content-type'] ?? '').split(';')[0] ?? '';
    if (response.content === undefined || method === 'HEAD') return assert.equal(body, '', name);
    const media = response.content[type] ?? response.content['application/octet-stream'];
    assert.ok(media, `${name}: the document knows no ${type}`);
    if (type !== 'application/json') return;
    const place = ['paths', path, method.toLowerCase(), 'responses', String(answer.status)].map(pointer).join('/');
    const written = operation.responses[String(answer.status)];
    const at = written !== undefined && '$ref' in written ? written.$ref : `#/${place}`;
    const validate = this.#validatorOf({ $ref: `${at}/content/${pointer(type)}/schema` });
    assert.ok(validate(JSON.parse(body)), `${name}: ${this.#ajv.errorsText(validate.errors)} in ${body.slice(0, 300)}`);
  }

  /** One for each schema, because making one takes longer than the answer. References are those of the document. */
  #validatorOf(schema: object): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/');
    const known = this.#validators.get(text);
    if (known !== undefined) return known;
    const made = this.#ajv.compile(JSON.parse(text) as object);
    this.#validators.set(text, made);
    return made;
  }

  #checkHeaders(name: string, { headers = {} }: Response, answer: CheckedAnswer): void {
    const listed = new Map(
      Object.entries(headers).map(([field, header]) => [field.toLowerCase(), this.#header(header)]),
    );
    for (const [field, { required, schema }] of listed) {
      const value = answer.headers[field];
      assert.ok(value !== undefined || required !== true, `${name}: ${field} is missing`);
      if (value === undefined) continue;
      const validate = this.#validatorOf(schema);
      const typed = schema['type'] === 'integer' ? Number(value) : String(value);
      assert.ok(validate(typed), `${name}: ${field}: ${String(value)}: ${this.#ajv.errorsText(validate.errors)}`);
    }
    const others = Object.keys(answer.headers).filter((field) => !listed.has(field) && !UNLISTED.has(field));
    assert.deepEqual(others, [], `${name}: fields that the document does not list`);
  }

  #header(header: Header | Reference): Header {
    if (!('$ref' in header)) return header;
    const found = this.#document.components.headers[header.$ref.slice('#/components/headers/'.length)];
    assert.ok(found, header.$ref);
    return found;
  }
}

function pointer(segment: string): string {
  return encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** A copy in which objects may have only the fields that their schemas name, unless a schema allows others. */
export function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  const isObject = 'type' in copy && copy['type'] === 'object' && 'properties' in copy;
  return isObject ? { additionalProperties: false, ...copy } : copy;
}
