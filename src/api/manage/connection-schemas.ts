/** JSON Schemas of a connection as its owner writes it: what the router checks and an OpenAPI document shows. */
import { NAME, REGION } from '../../config/formats.js';
import type { ConnectionType } from '../../connections/connection.js';

type Properties = Readonly<Record<string, object>>;

// Control characters in these would end up in commands, headers and terminals.
const LINE = '^[^\\u0000-\\u001f\\u007f]+$';
const ABSOLUTE = '^/[^\\u0000-\\u001f\\u007f]*$';

const line = (maxLength = 255): object => ({ type: 'string', minLength: 1, maxLength, pattern: LINE });
const integer = (minimum: number, maximum: number): object => ({ type: 'integer', minimum, maximum });
/** Written, never shown; null takes it away. */
const secret = (maxLength = 1024): object => ({ type: ['string', 'null'], minLength: 1, maxLength });

/** Of all types. */
export const secrets: Properties = {
  password: secret(),
  privateKey: secret(65_536),
  passphrase: secret(),
  secretAccessKey: secret(),
  sessionToken: secret(8192),
};

export const fingerprint = { type: 'string', pattern: '^SHA256:[A-Za-z0-9+/]{43}$' };

export const pool = {
  type: 'object',
  properties: {
    maxSessions: integer(1, 10_000),
    maxChannelsPerSession: integer(1, 1000),
    maxWaiting: integer(0, 1_000_000),
    idleTimeoutMs: integer(1, 86_400_000),
    acquireTimeoutMs: integer(1, 86_400_000),
    connectTimeoutMs: integer(1, 86_400_000),
    stallTimeoutMs: integer(1, 86_400_000),
  },
  additionalProperties: false,
};

const name = { type: 'string', minLength: 1, maxLength: 255, pattern: NAME };
const common: Properties = {
  name,
  isActive: { type: 'boolean', default: true },
  defaultPath: { type: ['string', 'null'], maxLength: 4096, pattern: ABSOLUTE, default: null },
  pool: { ...pool, default: {} },
};
const server: Properties = {
  host: line(253),
  username: line(),
  rootPath: { type: 'string', maxLength: 4096, pattern: ABSOLUTE, default: '/' },
  atomicUploads: { type: 'boolean', default: true },
  password: secret(),
};
const tls: Properties = {
  tlsVerify: { type: 'boolean', default: true },
  tlsCa: { type: ['string', 'null'], maxLength: 65_536, default: null },
};

const TYPES: Readonly<
  Record<ConnectionType, { readonly required: readonly string[]; readonly properties: Properties }>
> = {
  sftp: {
    required: ['host', 'username'],
    properties: {
      ...common,
      ...server,
      port: { ...integer(1, 65_535), default: 22 },
      algorithms: { type: 'string', enum: ['default', 'legacy'], default: 'default' },
      privateKey: secret(65_536),
      passphrase: secret(),
      keyPairId: { type: ['string', 'null'], maxLength: 36, default: null },
      hostKeys: { type: 'array', items: fingerprint, maxItems: 16, uniqueItems: true },
    },
  },
  ftp: {
    required: ['host', 'username'],
    properties: {
      ...common,
      ...server,
      ...tls,
      port: { ...integer(1, 65_535), default: 21 },
      tls: { type: 'string', enum: ['none', 'explicit', 'implicit'], default: 'none' },
    },
  },
  s3: {
    required: ['bucket', 'accessKeyId', 'secretAccessKey'],
    properties: {
      ...common,
      ...tls,
      endpoint: { type: ['string', 'null'], maxLength: 2048, default: null },
      region: { type: 'string', pattern: REGION, default: 'us-east-1' },
      bucket: line(),
      accessKeyId: line(),
      secretAccessKey: secret(),
      sessionToken: secret(8192),
      forcePathStyle: { type: 'boolean', default: true },
      uploader: { type: 'string', enum: ['streamed', 'sdk'], default: 'streamed' },
      prefix: { type: 'string', maxLength: 1024, pattern: '^[^\\u0000-\\u001f\\u007f]*$', default: '' },
    },
  },
};

export const CONNECTION_TYPES: readonly ConnectionType[] = ['sftp', 'ftp', 's3'];
const slug = { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' };

/** One schema for each type behind its name, so that a mistake is told for the type that was meant. */
function byType(schemas: Readonly<Record<ConnectionType, object>>, required: readonly string[]): object {
  return {
    type: 'object',
    required,
    properties: { type: { type: 'string', enum: CONNECTION_TYPES }, name },
    allOf: CONNECTION_TYPES.map((type) => ({
      if: { required: ['type'], properties: { type: { const: type } } },
      then: schemas[type],
    })),
  };
}

/** A whole connection, defaults filled in. `isBasedOn`: secrets may come from a stored one. */
function whole(type: ConnectionType, isBasedOn: boolean): object {
  const { required, properties } = TYPES[type];
  return {
    type: 'object',
    required: isBasedOn ? required.filter((name) => name !== 'secretAccessKey') : required,
    properties: { ...properties, id: slug, type: { const: type } },
    additionalProperties: false,
  };
}

export const wholeInputs = { sftp: whole('sftp', false), ftp: whole('ftp', false), s3: whole('s3', false) } as const;
export const createBody = byType(wholeInputs, ['type', 'name']);
/** Secrets may come from the connection that the draft is based on. */
export const draftInput = byType({ sftp: wholeInputs.sftp, ftp: wholeInputs.ftp, s3: whole('s3', true) }, [
  'type',
  'name',
]);

export const testDraftBody = {
  type: 'object',
  required: ['connection'],
  properties: {
    connection: draftInput,
    basedOn: { type: 'string', minLength: 1, maxLength: 64 },
    probe: { type: 'boolean', default: false },
  },
  additionalProperties: false,
};

/** The fields of any type; which ones fit is known with the connection (see patchOf). */
export const patchBody = {
  type: 'object',
  minProperties: 1,
  properties: Object.fromEntries(
    CONNECTION_TYPES.flatMap((type) => Object.entries(withoutDefaults(TYPES[type].properties))),
  ),
};

export function patchOf(type: ConnectionType): object {
  return { type: 'object', properties: withoutDefaults(TYPES[type].properties), additionalProperties: false };
}

function withoutDefaults(properties: Properties): Record<string, object> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const { default: _left, ...rest } = schema as { default?: unknown };
      return [name, rest];
    }),
  );
}
