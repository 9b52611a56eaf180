/**
 * Query parameters and body fields that an endpoint does not know. They are passed over and named in X-Ignored-Fields;
 * with `Prefer: handling=strict` (RFC 7240) they are refused.
 */
import { GatewayError } from '../base/errors.js';
import { nearestName } from '../base/nearest-name.js';
import type { HttpRequest } from './types.js';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly then?: Schema;
  readonly else?: Schema;
}

interface Unknown {
  /** With the names of the fields that it stands in. */
  readonly name: string;
  readonly last: string;
  readonly known: readonly string[];
}

const NOTHING: Schema = { properties: {} };
const MAX_NAME = 64;
const MAX_NAMES = 20;
const MAX_HEADER = 1_000;

/** What one request has brought in vain. */
export class UnknownFields {
  private readonly isStrict: boolean;
  private readonly ignored = new Set<string>();

  constructor({ headers }: HttpRequest) {
    this.isStrict = wantsStrict(headers.get('prefer'));
  }

  /** `schema`: of the query; undefined = it has no parameters. @throws GatewayError bad_request when strict */
  noteQuery(query: URLSearchParams, schema: object | undefined): void {
    if (query.size > 0) this.note('query parameter', Object.fromEntries(query), schema ?? NOTHING);
  }

  /** `given`: the body, or fields of a streamed one. @throws GatewayError bad_request when strict */
  noteFields(given: unknown, schema: object): void {
    this.note('field', given, schema);
  }

  /** For the answer. */
  get headers(): Record<string, string> {
    return {
      ...(this.isStrict ? { 'Preference-Applied': 'handling=strict' } : {}),
      ...(this.ignored.size === 0 ? {} : { 'X-Ignored-Fields': list([...this.ignored]) }),
    };
  }

  private note(kind: string, given: unknown, schema: Schema): void {
    for (const { name, last, known } of unknownIn(given, schema, '')) {
      if (this.isStrict) {
        const near = nearestName(last, known);
        const meant = near === undefined ? '' : `; is ${near} meant?`;
        throw new GatewayError('bad_request', `${name.slice(0, MAX_NAME)} is no ${kind} of this endpoint${meant}`, {
          step: 'request',
        });
      }
      if (this.ignored.size <= MAX_NAMES) this.ignored.add(name.slice(0, MAX_NAME));
    }
  }
}

/** RFC 7240, 2: the first of several counts. */
function wantsStrict(prefer: string | undefined): boolean {
  const [, handling] = /(?:^|,)\s*handling\s*=\s*"?([a-z]+)"?\s*(?=[,;]|$)/i.exec(prefer ?? '') ?? [];
  return handling?.toLowerCase() === 'strict';
}

function* unknownIn(value: unknown, schema: Schema, path: string): Generator<Unknown> {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) yield* unknownIn(item, schema.items, path);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const parts = [...partsOf(schema)];
  // Free, or such that the schema itself refuses what it does not know.
  if (parts.every(({ properties }) => properties === undefined)) return;
  if (parts.some(({ additionalProperties }) => additionalProperties !== undefined)) return;
  const known = new Map(parts.flatMap(({ properties }) => Object.entries(properties ?? {})));
  for (const [name, inner] of Object.entries(value)) {
    const field = known.get(name);
    if (field === undefined) yield { name: path + name, last: name, known: [...known.keys()] };
    else yield* unknownIn(inner, field, `${path}${name}.`);
  }
}

/** The schema and everything that may add fields to it. */
function* partsOf(schema: Schema): Generator<Schema> {
  yield schema;
  const branches = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  for (const branch of [...branches, schema.then, schema.else]) if (branch !== undefined) yield* partsOf(branch);
}

/** Names are the client's own text: percent-encoded but for what a header may hold, and bounded. */
function list(names: readonly string[]): string {
  let text = '';
  for (const [index, name] of names.entries()) {
    const next = `${index === 0 ? '' : ', '}${encodeURIComponent(name.toWellFormed())}`;
    if (index === MAX_NAMES || text.length + next.length > MAX_HEADER) return `${text}, ...`;
    text += next;
  }
  return text;
}
