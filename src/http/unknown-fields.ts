/**
 * Query parameters and body fields that an endpoint does not know. They are ignored and named in X-Ignored-Fields; with
 * `Prefer: handling=strict` (RFC 7240) they are refused.
 */
import { refusal } from '../base/errors.js';
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
  /** Includes the names of the fields around it. */
  readonly name: string;
  readonly last: string;
  readonly known: Fields;
}

interface UnknownField extends Unknown {
  readonly holder: Record<string, unknown>;
}

type Fields = ReadonlyMap<string, Schema>;

const NOTHING: Schema = { properties: {} };
const MAX_NAME = 64;
const MAX_NAMES = 20;
const MAX_HEADER = 1_000;

/** The unknown fields of one request. */
export class UnknownFields {
  readonly #isStrict: boolean;
  #ignored: Set<string> | undefined;

  constructor({ headers }: HttpRequest) {
    this.#isStrict = wantsStrict(headers.get('prefer'));
  }

  /** `schema`: of the query; undefined = it has no parameters. @throws GatewayError bad_request if strict */
  noteQuery(query: URLSearchParams, schema: Schema = NOTHING): void {
    const known = fieldsOf(schema);
    if (known === undefined) return;
    for (const name of query.keys()) {
      if (!known.has(name)) this.#note('query parameter', { name, last: name, known });
    }
  }

  /**
   * `given`: the body, or fields of a streamed one; unknown fields are removed from it. @throws GatewayError
   * bad_request if strict
   */
  noteFields(given: unknown, schema: object): void {
    for (const unknown of unknownIn(given, schema, '')) {
      this.#note('field', unknown);
      delete unknown.holder[unknown.last];
    }
  }

  /** The header fields for the answer. */
  get headers(): Readonly<Record<string, string>> | undefined {
    const isStrict = this.#isStrict;
    const ignored = this.#ignored;
    if (!isStrict && ignored === undefined) return undefined;
    return {
      ...(isStrict ? { 'Preference-Applied': 'handling=strict' } : {}),
      ...(ignored === undefined ? {} : { 'X-Ignored-Fields': list([...ignored]) }),
    };
  }

  #note(kind: string, { name, last, known }: Unknown): void {
    if (this.#isStrict) {
      const near = nearestName(last, [...known.keys()]);
      const meant = near === undefined ? '' : `; is ${near} meant?`;
      throw refusal('bad_request', `${name.slice(0, MAX_NAME)} is no ${kind} of this endpoint${meant}`);
    }
    this.#ignored ??= new Set();
    if (this.#ignored.size <= MAX_NAMES) this.#ignored.add(name.slice(0, MAX_NAME));
  }
}

/** RFC 7240, 2: the first of several counts. */
function wantsStrict(prefer: string | undefined): boolean {
  if (prefer === undefined) return false;
  const [, handling] = /(?:^|,)\s*handling\s*=\s*"?([a-z]+)"?\s*(?=[,;]|$)/i.exec(prefer) ?? [];
  return handling?.toLowerCase() === 'strict';
}

function* unknownIn(value: unknown, schema: Schema, path: string): Generator<UnknownField> {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) yield* unknownIn(item, schema.items, path);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const known = fieldsOf(schema);
  if (known === undefined) return;
  for (const [name, inner] of Object.entries(value)) {
    const field = known.get(name);
    if (field === undefined) {
      yield { name: path + name, last: name, known, holder: value as Record<string, unknown> };
    } else if (typeof inner === 'object') yield* unknownIn(inner, field, `${path}${name}.`);
  }
}

/** By the schemas of the endpoints, which are the same for every request. */
const found = new WeakMap<Schema, Fields | typeof FREE>();
const FREE = 'free';

/** undefined: the schema accepts any field, or refuses unknown ones itself. */
function fieldsOf(schema: Schema): Fields | undefined {
  let fields = found.get(schema);
  if (fields === undefined) {
    const parts = [...partsOf(schema)];
    const isFree =
      parts.every(({ properties }) => properties === undefined) ||
      parts.some(({ additionalProperties }) => additionalProperties !== undefined);
    fields = isFree ? FREE : new Map(parts.flatMap(({ properties }) => Object.entries(properties ?? {})));
    found.set(schema, fields);
  }
  return fields === FREE ? undefined : fields;
}

/** The schema and everything that may add fields to it. */
function* partsOf(schema: Schema): Generator<Schema> {
  yield schema;
  const branches = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  for (const branch of [...branches, schema.then, schema.else]) if (branch !== undefined) yield* partsOf(branch);
}

/** Names are the client's own text: percent-encoded except for what a header may contain, and bounded. */
function list(names: readonly string[]): string {
  let text = '';
  for (const [index, name] of names.entries()) {
    const next = `${index === 0 ? '' : ', '}${encodeURIComponent(name.toWellFormed())}`;
    if (index === MAX_NAMES || text.length + next.length > MAX_HEADER) return `${text}, ...`;
    text += next;
  }
  return text;
}
