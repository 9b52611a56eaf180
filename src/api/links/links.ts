/** Links: URLs that need no key and do one thing, made, looked at and revoked. */
import { type Static, Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import {
  count,
  countOrNull,
  dateTime,
  dateTimeOrNull,
  described,
  flag,
  listOf,
  object,
  oneOf,
  text,
  textOrNull,
  withDefault,
} from '../../contract/schema.js';
import { isUuid } from '../../base/uuid.js';
import { CONNECTION_ID } from '../../contract/words.js';
import { type Link, LINK_OPERATIONS, LINK_STATES } from '../../storage/storage.js';
import { DIGEST, digestOf } from '../account/transfers.js';
import { endpoint } from '../endpoint.js';
import { answeredPath, connectionId, dateTimeOf, remotePath } from '../fields.js';
import { actorOf, type ApiServices, connectionOf } from '../services.js';
import { urlOf } from './url.js';

const TAG = 'Links';
const LINK_ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1e001';
const parameter = { id: text('Identifier of a link.', { minLength: 1, examples: [LINK_ID] }) };

const OPERATION = '`upload` takes files into one folder, `download` gives one file.';
const FILENAME = 'Of an upload: what the file is called, whatever its sender says. Of a download: what it is saved as.';
const SHA = 'SHA-256 that the file must have: `sha-256:` and 64 hexadecimal digits.';
const OVERWRITE = 'Of an upload: whether a file of this name may be replaced. Without, it is 409.';
const MAX_BYTES = 'The most bytes of one file.';
const MAX_USES = 'How often it may be used; a use that fails does not count.';

const linkFields = {
  id: text('Identifier.'),
  operation: oneOf(LINK_OPERATIONS, OPERATION),
  connectionId: text(CONNECTION_ID),
  path: answeredPath(),
  filename: textOrNull(FILENAME),
  overwrite: flag(OVERWRITE),
  digest: textOrNull(SHA),
  maxBytes: countOrNull(`${MAX_BYTES} Null = as many as any upload.`),
  maxUses: countOrNull(`${MAX_USES} Null = as often as anybody likes.`),
  uses: count('Uses that have succeeded.'),
  state: oneOf(
    LINK_STATES,
    '`active`; `used_up`; `expired`; `revoked`; `key_ended`: the API key that made it was revoked, has expired, or may no longer do what the link does.',
  ),
  keyId: textOrNull('The API key that made it, and with which it ends; null = the owner of the account did.'),
  expiresAt: dateTime('When it ends by itself.'),
  revokedAt: dateTimeOrNull('When it was revoked.'),
  lastUsedAt: dateTimeOrNull('The last use that has succeeded.'),
  createdAt: dateTime('When it was made.'),
};
const linkSchema = object('Link', linkFields);

const example: Static<typeof linkSchema> = {
  ...{ id: LINK_ID, operation: 'upload', connectionId: 'warehouse', path: '/incoming/acme', filename: null },
  ...{ overwrite: false, digest: null, maxBytes: 104_857_600, maxUses: 10, uses: 0, state: 'active' },
  keyId: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001',
  ...{ expiresAt: '2026-02-07T12:00:00.000Z', revokedAt: null, lastUsedAt: null },
  createdAt: '2026-01-31T12:00:00.000Z',
};

function linkOf(link: Link): Static<typeof linkSchema> {
  const { digest, expiresAt, revokedAt, lastUsedAt, createdAt, accountId: _, ...others } = link;
  return {
    ...others,
    digest: digest === null ? null : `sha-256:${digest.toString('hex')}`,
    expiresAt: expiresAt.toISOString(),
    revokedAt: revokedAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}

const answer = {
  schema: object('LinkAnswer', { link: described(linkSchema, 'The link, as it is now.') }),
  example: { link: example },
};

export const createLink = endpoint({
  method: 'POST',
  path: '/api/links',
  access: 'any',
  operationId: 'createLink',
  tag: TAG,
  summary: 'Make an upload or download link',
  description:
    'Whoever has the `url` of the answer can do this one thing, without a key: programs by `PUT` or `GET`, people in a browser. The url is shown this once; the gateway keeps its hash alone. Needs the scope `write` for uploads, `read` for downloads. The link ends when it expires, is used up or revoked, and with its API key and its connection.',
  body: object('NewLink', {
    operation: oneOf(LINK_OPERATIONS, OPERATION),
    connectionId: connectionId(),
    path: remotePath(
      'The file to download, or the folder to upload to; absolute or from the default path of the connection. It is the uploaded file itself if neither the link nor its user names the file, and no slash is at its end.',
    ),
    expiresAt: text('When it ends, a date-time with its zone, at most `links.maxDays` (90) days from now.', {
      maxLength: 64,
    }),
    maxBytes: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: MAX_BYTES })),
    maxUses: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: MAX_USES })),
    filename: Type.Optional(text(FILENAME, { minLength: 1, maxLength: 255 })),
    overwrite: withDefault(flag(OVERWRITE), false),
    digest: Type.Optional(text(SHA, { pattern: '^sha-256:[0-9A-Fa-f]{64}$' })),
  }),
  bodyExamples: {
    upload: {
      ...{ operation: 'upload', connectionId: 'warehouse', path: '/incoming/acme' },
      ...{ expiresAt: '2026-02-07T12:00:00Z', maxBytes: 104_857_600, maxUses: 10 },
    },
    download: {
      ...{ operation: 'download', connectionId: 'warehouse', path: '/reports/january.pdf' },
      ...{ expiresAt: '2026-02-07T12:00:00Z', maxUses: 1, digest: DIGEST },
    },
  },
  answer: {
    status: 201,
    description: 'It is made.',
    schema: object('CreatedLinkAnswer', {
      link: described(
        object('CreatedLink', { ...linkFields, url: text('What its users need, and all they need; shown this once.') }),
        'The link.',
      ),
    }),
    example: { link: { ...example, url: 'https://files.example.com/l/9wKq2mTz0VbXr7Yc4NdLpA6sHfEuGi1J' } },
  },
  isRemote: true,
  errors: ['unknown_connection', 'scope_missing', 'connection_inactive', 'share_exceeded'],
}).handle(async (input, services: ApiServices) => {
  const { caller, body, request } = input;
  const connection = await connectionOf(services, caller, body.connectionId);
  const { operation, path, filename = null, overwrite, maxBytes = null, maxUses = null } = body;
  const expiresAt = dateTimeOf(body.expiresAt);
  if (expiresAt === undefined) {
    throw refusal('bad_request', 'expiresAt must be a date-time such as 2026-01-31T12:00:00Z');
  }
  const digest = body.digest === undefined ? null : digestOf(body.digest);
  const order = { operation, connection, path, filename, overwrite, digest, maxBytes, maxUses, expiresAt };
  const { link, token } = await services.links.service.create(actorOf(input), caller, order, request.ending);
  return { link: { ...linkOf(link), url: urlOf(services.links, request, token) } };
});

export const listLinks = endpoint({
  method: 'GET',
  path: '/api/links',
  access: 'any',
  isEssential: true,
  operationId: 'listLinks',
  tag: TAG,
  summary: 'List links',
  description:
    'Links to connections that this API key may use, newest first, without their urls. Those that have expired or were revoked are shown for 30 days more.',
  query: Type.Object({
    limit: withDefault(Type.Integer({ minimum: 1, maximum: 1000, description: 'Links a page.', examples: [100] }), 100),
    cursor: Type.Optional(
      text('The `nextCursor` of the page before.', { minLength: 1, maxLength: 64, examples: [LINK_ID] }),
    ),
  }),
  answer: {
    schema: object('LinksAnswer', {
      links: listOf(linkSchema, 'Newest first.'),
      nextCursor: textOrNull('Where the next page begins; null = there is none.'),
    }),
    example: { links: [example], nextCursor: null },
  },
}).handle(async ({ caller, query }, { links }: ApiServices) => {
  const { limit, cursor } = query;
  if (cursor !== undefined && !isUuid(cursor)) throw refusal('bad_request', 'cursor must be a nextCursor of this list');
  const found = await links.service.list(caller, { limit, cursor });
  return { links: found.map(linkOf), nextCursor: found.length === limit ? (found.at(-1)?.id ?? null) : null };
});

export const getLink = endpoint({
  method: 'GET',
  path: '/api/links/:id',
  access: 'any',
  isEssential: true,
  operationId: 'getLink',
  tag: TAG,
  summary: 'Look at a link',
  description: 'As it is now, without its url. `GET /api/transfers?link_id=…` has what came by it.',
  params: parameter,
  answer,
  errors: ['unknown_item'],
}).handle(async ({ caller, params }, { links }: ApiServices) => ({
  link: linkOf(await links.service.get(caller, params.id)),
}));

export const revokeLink = endpoint({
  method: 'DELETE',
  path: '/api/links/:id',
  access: 'any',
  operationId: 'revokeLink',
  tag: TAG,
  summary: 'Revoke a link',
  description:
    'From now on, on every node, whoever has it gets 410. What is under way goes on. Revoked already, nothing changes. Needs the scope that making it needs.',
  params: parameter,
  answer: { ...answer, description: 'It has ended.', example: { link: { ...example, state: 'revoked' } } },
  errors: ['unknown_item', 'scope_missing'],
}).handle(async (input, { links }: ApiServices) => ({
  link: linkOf(await links.service.revoke(actorOf(input), input.caller, input.params.id)),
}));
