/** Requests made from an endpoint's schemas: valid ones, valid ones with a change, and hostile ones. */
import fc from 'fast-check';
import type { Schema } from '../../../src/api/openapi/types.js';
import { JOB_OPTIONS } from '../../../src/contract/job-options.js';
import type { Endpoint } from './endpoints.js';
import {
  hostileHeader,
  hostileText,
  hostileValue,
  plausibleName,
  plausibleRawName,
  plausiblePath,
  plausibleTemplate,
} from './hostile.js';

export interface FuzzRequest {
  readonly endpoint: Endpoint;
  /** As it is sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** Existing things of this gateway; field names decide which of them is meant. */
export interface Known {
  /** The key of requests whose caller has the right. */
  readonly key: string;
  readonly connections: readonly string[];
  readonly ids: readonly string[];
  readonly urls: readonly string[];
  readonly hosts: readonly string[];
}

type Fields = Record<string, unknown>;

const PATHS = new Set(['path', 'from', 'to', 'source_path', 'dest_path', 'moveTo', 'rootPath', 'defaultPath', 'after']);
const CONNECTIONS = new Set(['connectionId', 'connection_id', 'source_connection_id', 'dest_connection_id', 'basedOn']);
const MAX_TEXT = 400;
/** Header fields that some endpoints require; those of tus. */
const FIELDS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'Tus-Resumable': fc.constant('1.0.0'),
  'Upload-Length': fc.constantFrom('0', '1', '700', '2000', '900000'),
  'Upload-Offset': fc.constant('0'),
  'Upload-Metadata': fc
    .record({ filename: plausibleName, path: plausiblePath }, { requiredKeys: ['filename'] })
    .map((pairs) =>
      Object.entries(pairs)
        .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
        .join(','),
    ),
  'X-HTTP-Method-Override': fc.constantFrom('HEAD', 'PATCH', 'DELETE'),
};

export function requestsFor(endpoint: Endpoint, known: Known): fc.Arbitrary<FuzzRequest> {
  const bodies = Object.entries(endpoint.bodies).map(([type, schema]) => bodyOf(type, schema, known));
  const body: fc.Arbitrary<Body> = bodies.length === 0 ? fc.constant({ headers: {} }) : fc.oneof(...bodies);
  return fc
    .record({
      path: pathOf(endpoint, known),
      query: queryOf(endpoint, known),
      headers: headersOf(endpoint, known),
      body: fc.oneof({ weight: 19, arbitrary: body }, { weight: 1, arbitrary: strayBody }),
    })
    .map(({ path, query, headers, body: { headers: described, bytes } }) => ({
      endpoint,
      target: path + query,
      headers: { ...described, ...headers },
      body: bytes,
    }));
}

/** Paths that no endpoint has; `..` and oddly written ones are unchanged. */
export function strayRequests(key: string): fc.Arbitrary<FuzzRequest> {
  const endpoint: Endpoint = {
    method: 'GET',
    path: '/?',
    isDocumented: false,
    query: {},
    requiredQuery: [],
    headers: [],
    bodies: {},
  };
  return fc
    .tuple(
      fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE'),
      fc.constantFrom('/', '/api/', '/api/upload/', '/manage/', '/docs/', '/assets/', '//', '/api/me/..'),
      hostileText,
    )
    .map(([method, start, text]) => ({
      endpoint: { ...endpoint, method },
      target: wireSafe(start + text.slice(0, 500)),
      headers: { Authorization: `Bearer ${key}` },
      body: undefined,
    }));
}

function pathOf(endpoint: Endpoint, known: Known): fc.Arbitrary<string> {
  const segments = endpoint.path.split('/').map((segment) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) return fc.constant(segment);
    const usual = name === 'connectionId' ? known.connections : [...known.ids, ...known.connections];
    return fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...usual) },
      { weight: 1, arbitrary: hostileText.map((text) => encoded(text.slice(0, 300)) || '%20') },
    );
  });
  return fc.tuple(...segments).map((parts) => parts.join('/'));
}

function queryOf(endpoint: Endpoint, known: Known): fc.Arbitrary<string> {
  const schema = { type: 'object', properties: endpoint.query, required: endpoint.requiredQuery };
  const fields = withMistakes(valueOf(schema, '', known) as fc.Arbitrary<Fields>);
  const regular = fields.map((values) => {
    const pairs = Object.entries(values).flatMap(([name, value]) =>
      [value].flat().map((one) => `${encoded(name)}=${encoded(textOf(one))}`),
    );
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  });
  const odd = fc
    .tuple(regular, hostileText)
    .map(([query, text]) => wireSafe(`${query || '?'}&${query.slice(1)}&${text.slice(0, 300)}`));
  return fc.oneof({ weight: 14, arbitrary: regular }, { weight: 1, arbitrary: odd });
}

function headersOf(endpoint: Endpoint, known: Known): fc.Arbitrary<Record<string, string>> {
  const authorization = fc.oneof(
    { weight: 60, arbitrary: fc.constant(`Bearer ${known.key}`) },
    { weight: 1, arbitrary: hostileHeader },
    { weight: 1, arbitrary: fc.constant(`bearer  ${known.key} `) },
  );
  const names = [...endpoint.headers, 'X-Request-Id', 'Accept', 'Cookie', 'X-Forwarded-For', 'Origin'];
  const extra = fc
    .tuple(fc.constantFrom(...names), hostileHeader)
    .map(([name, value]): Record<string, string> => ({ [name]: value }));
  const needed = fc.record(
    Object.fromEntries(Object.entries(FIELDS).filter(([name]) => endpoint.headers.includes(name))),
  );
  const usual = fc.oneof({ weight: 9, arbitrary: needed }, { weight: 1, arbitrary: fc.constant({}) });
  return fc
    .tuple(authorization, usual, fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: extra }))
    .map(([login, fields, more]) => ({ ...fields, ...more, Authorization: login }));
}

interface Body {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes?: Buffer;
}

function bodyOf(type: string, schema: Schema, known: Known): fc.Arbitrary<Body> {
  const values = withMistakes(valueOf(schema, '', known) as fc.Arbitrary<Fields>);
  if (type === 'application/json') return jsonBody(values);
  if (type === 'multipart/form-data') return formBody(values);
  return fc.uint8Array({ maxLength: 2000 }).map((bytes) => ({
    headers: { 'Content-Type': type },
    bytes: Buffer.from(bytes),
  }));
}

function jsonBody(values: fc.Arbitrary<Fields>): fc.Arbitrary<Body> {
  const regular = fc
    .oneof({ weight: 20, arbitrary: values }, { weight: 1, arbitrary: hostileValue })
    .map((value) => Buffer.from(JSON.stringify(value)));
  const broken = fc
    .tuple(regular, fc.nat(), fc.constantFrom('cut', 'flip', 'insert', 'double', 'bom', 'latin1'), fc.nat(255))
    .map(([bytes, where, how, byte]) => spoiled(bytes, where % Math.max(1, bytes.length), how, byte));
  return fc
    .oneof({ weight: 9, arbitrary: regular }, { weight: 1, arbitrary: broken })
    .map((bytes) => ({ headers: { 'Content-Type': 'application/json' }, bytes }));
}

function spoiled(bytes: Buffer, at: number, how: string, byte: number): Buffer {
  switch (how) {
    case 'cut':
      return bytes.subarray(0, at);
    case 'flip': {
      const copy = Buffer.from(bytes);
      copy[at] = byte;
      return copy;
    }
    case 'insert':
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte, byte]), bytes.subarray(at)]);
    case 'double':
      return Buffer.concat([bytes, bytes]);
    case 'bom':
      return Buffer.concat([Buffer.from('\ufeff'), bytes]);
    default:
      return Buffer.from(bytes.toString('utf8'), 'latin1');
  }
}

const BOUNDARY = 'fuzz';

function formBody(values: fc.Arbitrary<Fields>): fc.Arbitrary<Body> {
  const quirks = fc.constantFrom(
    '',
    '',
    '',
    '',
    '',
    '',
    'unended',
    'no boundary',
    'bare line ends',
    'two files',
    'empty',
  );
  return fc.tuple(values, plausibleName, hostileText, quirks, fc.boolean()).map(([fields, name, odd, quirk, isOdd]) => {
    const parts = Object.entries(fields).map(([field, value]) => {
      const isFile = field === 'file';
      const filename = isFile ? `; filename="${isOdd ? odd.replaceAll('"', '%22') : name}"` : '';
      return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"${filename}\r\n\r\n${textOf(value)}\r\n`;
    });
    const twice = quirk === 'two files' ? [...parts, ...parts] : parts;
    const text = quirk === 'empty' ? '' : twice.join('') + (quirk === 'unended' ? '' : `--${BOUNDARY}--\r\n`);
    const type = quirk === 'no boundary' ? 'multipart/form-data' : `multipart/form-data; boundary=${BOUNDARY}`;
    const bytes = Buffer.from(quirk === 'bare line ends' ? text.replaceAll('\r\n', '\n') : text);
    return { headers: { 'Content-Type': type }, bytes };
  });
}

/** A body where none belongs, or with an invalid type. */
const strayBody: fc.Arbitrary<Body> = fc.record({
  headers: fc.record({ 'Content-Type': hostileHeader }),
  bytes: fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
});

/** Mostly unchanged; otherwise one value hostile, one field missing, or one too many. */
function withMistakes(values: fc.Arbitrary<Fields>): fc.Arbitrary<Fields> {
  const how = fc.constantFrom('right', 'right', 'right', 'right', 'hostile', 'hostile', 'hostile', 'missing', 'extra');
  return fc.tuple(values, how, fc.nat(), hostileValue, hostileText).map(([fields, mistake, pick, value, name]) => {
    if (typeof fields !== 'object' || fields === null) return fields;
    const keys = Object.keys(fields);
    const key = keys[pick % Math.max(1, keys.length)];
    if (mistake === 'extra') return { ...fields, [name]: value };
    if (mistake === 'right' || key === undefined) return fields;
    const { [key]: _left, ...others } = fields;
    return mistake === 'missing' ? others : { ...others, [key]: value };
  });
}

/** A value that the schema of the field `name` accepts. */
function valueOf(schema: Schema, name: string, known: Known): fc.Arbitrary<unknown> {
  const {
    oneOf,
    anyOf,
    allOf,
    const: only,
    enum: choices,
    type,
  } = schema as {
    readonly oneOf?: readonly Schema[];
    readonly anyOf?: readonly Schema[];
    readonly allOf?: readonly { readonly then: Schema }[];
    readonly const?: unknown;
    readonly enum?: readonly unknown[];
    readonly type?: string | readonly string[];
  };
  if (oneOf !== undefined) return fc.oneof(...oneOf.map((one) => valueOf(one, name, known)));
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => valueOf(one, name, known)));
  // One schema for each type of connection.
  if (allOf !== undefined) return fc.oneof(...allOf.map((one) => valueOf(one.then, name, known)));
  if (only !== undefined) return fc.constant(only);
  if (choices !== undefined) return fc.constantFrom(...choices);
  if (Array.isArray(type)) {
    return fc.oneof(...type.map((one) => valueOf({ ...schema, type: one as string }, name, known)));
  }
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integerOf(schema);
    case 'array':
      return fc.array(valueOf(schema['items'] as Schema, name, known), { maxLength: 3 });
    case 'object':
      return objectOf(schema, known);
    default:
      return textOfField(schema, name, known);
  }
}

function integerOf(schema: Schema): fc.Arbitrary<number> {
  const { minimum = 0, maximum = 1_000_000 } = schema as { readonly minimum?: number; readonly maximum?: number };
  return fc.oneof(fc.constantFrom(minimum, Math.min(maximum, minimum + 1)), fc.integer({ min: minimum, max: maximum }));
}

function objectOf(schema: Schema, known: Known): fc.Arbitrary<Fields> {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly required?: readonly string[];
  };
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, valueOf(inner, name, known)]),
  );
  const isJob = ['type', 'source', 'destination'].every((name) => name in properties);
  const neededNames = isJob ? [...required, 'destination'] : required;
  const needed = Object.fromEntries(Object.entries(fields).filter(([name]) => neededNames.includes(name)));
  if (isJob) {
    const jobs = fc.oneof(fc.record(fields, { requiredKeys: [...neededNames] }), fc.record(needed));
    return fc.tuple(jobs, fc.nat(3)).map(([job, chance]) => (chance === 0 ? job : asItsTypeTakesIt(job)));
  }
  // With many optional fields, one is often wrong.
  return fc.oneof(fc.record(fields, { requiredKeys: [...required] }), fc.record(needed));
}

/** Nearly every job made by chance has an option of another type, and would be refused for it. */
function asItsTypeTakesIt(job: Fields): Fields {
  const options: Readonly<Record<string, readonly unknown[]>> = {
    ...JOB_OPTIONS,
    destination: ['copy', 'move', 'sync'],
  };
  return Object.fromEntries(Object.entries(job).filter(([name]) => options[name]?.includes(job['type']) ?? true));
}

function textOfField(schema: Schema, name: string, known: Known): fc.Arbitrary<string> {
  const any = fc.string({ unit: 'grapheme', minLength: 1, maxLength: MAX_TEXT });
  const { pattern } = schema as { readonly pattern?: string };
  if (PATHS.has(name)) return plausiblePath;
  if (CONNECTIONS.has(name)) return fc.constantFrom(...known.connections);
  if (name === 'filename') return plausibleName;
  if (name === 'rawName' || name === 'source_raw_name') return plausibleRawName;
  if (name === 'filename_template') return plausibleTemplate;
  if (name === 'url' || name === 'webhookUrl' || name === 'endpoint') return fc.constantFrom(...known.urls);
  if (name === 'host') return fc.constantFrom(...known.hosts);
  if (name === 'content') return fc.oneof(fc.base64String({ maxLength: 400 }), any);
  if (name === 'since' || name === 'until' || name === 'expiresAt') {
    const times = ['2026-01-01T00:00:00Z', '1767225600', '2026-01-01', '9999-12-31T23:59:59.999+14:00', tomorrow()];
    return fc.constantFrom(...times);
  }
  if (name === 'cron')
    return fc.constantFrom('30 2 * * 1-5', '@hourly', '@yearly', '0 4 1 1 *', '0 0 31 2 *', '61 * * * *');
  if (name === 'timeZone') return fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Mars/Base');
  return pattern === undefined ? any : fc.oneof(fc.constantFrom('a-name', 'text'), any);
}

const tomorrow = (): string => new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString();

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Percent-encoded; halves of surrogate pairs become bytes that are not UTF-8. */
function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}

/** Bytes that Node's client does not send in a request line are percent-encoded. */
function wireSafe(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[^\x21-\xff]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
    .replaceAll('#', '%23');
}
