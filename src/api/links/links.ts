/** Links: URLs that need no key and do one thing; created, listed and revoked here. */
import { Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import { type Link, linkFields } from '../../contract/link.js';
import { limit } from '../../contract/paging.js';
import { described, listOf, object, text } from '../../contract/schema.js';
import { connectionId, remotePath } from '../../contract/file-request.js';
import { newFields, shownFields, viewOf, withDefaults } from '../../contract/thing.js';
import { transferExample } from '../../contract/transfer.js';
import { digestInFilter } from '../transfers/history.js';
import { cursor, dateTimeOf, nextCursor, page } from '../fields.js';
import { actorOf, connectionOf, requireCursor } from '../services.js';
import { urlOf } from './url.js';
import { endpoints } from '../endpoint.js';

const LINK_ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1e001';
const parameter = { id: text('Identifier of a link.', { minLength: 1, examples: [LINK_ID] }) };

const linkSchema = object('Link', shownFields(linkFields, 'key'));

const example = {
  id: LINK_ID,
  operation: 'upload',
  connectionId: 'warehouse',
  path: '/incoming/acme',
  filename: null,
  note: 'Invoices of January',
  overwrite: false,
  folders: false,
  digest: null,
  maxBytes: 104_857_600,
  maxUses: 10,
  uses: 0,
  state: 'active',
  keyId: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001',
  expiresAt: '2026-02-07T12:00:00.000Z',
  revokedAt: null,
  lastUsedAt: null,
  createdAt: '2026-01-31T12:00:00.000Z',
};

const linkOf = (link: Link) => viewOf(linkFields, link, 'key');

const answer = {
  schema: object('LinkAnswer', { link: described(linkSchema, 'The link, as it is now.') }),
  example: { link: example },
};

const endpoint = endpoints('Links', parameter);
export const linkEndpoints = endpoint.all;

endpoint('POST /api/links', {
  access: 'any',
  operationId: 'createLink',
  summary: 'Make an upload or download link',
  description:
    'Anyone who has the `url` of the answer can do this one thing, without a key: programs by `PUT` or `GET`, people in a browser. The url is shown only once; the gateway keeps only its hash. Needs the scope `write` for uploads, `read` for downloads. The link ends when it expires, is used up or revoked, and with its API key and its connection.',
  body: object('NewLink', {
    connectionId: connectionId(),
    path: remotePath(
      'The file to download, or the folder to upload to; absolute or from the default path of the connection. It is the uploaded file itself if neither the link nor its user names the file, and no slash is at its end.',
    ),
    ...newFields(linkFields),
  }),
  bodyExamples: {
    upload: {
      operation: 'upload',
      connectionId: 'warehouse',
      path: '/incoming/acme',
      expiresAt: '2026-02-07T12:00:00Z',
      maxBytes: 104_857_600,
      maxUses: 10,
      note: 'Invoices of January',
    },
    download: {
      operation: 'download',
      connectionId: 'warehouse',
      path: '/reports/january.pdf',
      expiresAt: '2026-02-07T12:00:00Z',
      maxUses: 1,
      digest: transferExample.digest,
    },
  },
  answer: {
    status: 201,
    description: 'It is made.',
    schema: object('CreatedLinkAnswer', {
      link: described(
        object('CreatedLink', {
          ...linkSchema.properties,
          url: text('All that its users need; shown only once.'),
        }),
        'The link.',
      ),
    }),
    example: { link: { ...example, url: 'https://files.example.com/l/9wKq2mTz0VbXr7Yc4NdLpA6sHfEuGi1J' } },
  },
  isRemote: true,
  errors: ['unknown_connection', 'scope_missing', 'connection_inactive', 'share_exceeded'],
}).handle(async (input, services) => {
  const { caller, body, request } = input;
  const connection = await connectionOf(services, caller, body.connectionId);
  const expiresAt = dateTimeOf(body.expiresAt);
  if (expiresAt === undefined) {
    throw refusal('bad_request', 'expiresAt must be a date-time such as 2026-01-31T12:00:00Z');
  }
  const digest = body.digest === undefined ? null : digestInFilter(body.digest);
  const order = { ...withDefaults(linkFields, { ...body, digest, expiresAt }), connection, path: body.path };
  const { link, token } = await services.links.service.create(actorOf(input), caller, order, request.ending);
  return { link: { ...linkOf(link), url: urlOf(services.address, request, token) } };
});

endpoint('GET /api/links', {
  access: 'any',
  isEssential: true,
  operationId: 'listLinks',
  summary: 'List links',
  description:
    'Links to connections that this API key may use, newest first, without their urls. Those that have expired or were revoked are shown for 30 days more.',
  query: Type.Object({
    limit: limit(1000, 100, 100, 'Links a page.'),
    cursor: cursor(LINK_ID, { minLength: 1, maxLength: 64 }, 'The `nextCursor` of the page before.'),
  }),
  answer: {
    schema: page('LinksAnswer', {
      links: listOf(linkSchema, 'Newest first.'),
    }),
    example: { links: [example], nextCursor: null },
  },
}).handle(async ({ caller, query }, { links }) => {
  requireCursor(query.cursor);
  const found = await links.service.list(caller, query);
  return { links: found.map(linkOf), nextCursor: nextCursor(found, query.limit, ({ id }) => id) };
});

endpoint('GET /api/links/:id', {
  access: 'any',
  isEssential: true,
  operationId: 'getLink',
  summary: 'Look at a link',
  description: 'As it is now, without its url. `GET /api/transfers?link_id=…` has what came by it.',
  answer,
  errors: ['unknown_item'],
}).handle(async ({ caller, params }, { links }) => ({
  link: linkOf(await links.service.get(caller, params.id)),
}));

endpoint('DELETE /api/links/:id', {
  access: 'any',
  operationId: 'revokeLink',
  summary: 'Revoke a link',
  description:
    'From now on, every use of it on every node is 410. Transfers under way continue. If it is revoked already, nothing changes. Needs the same scope as making it.',
  answer: { ...answer, description: 'It has ended.', example: { link: { ...example, state: 'revoked' } } },
  errors: ['unknown_item', 'scope_missing'],
}).handle(async (input, { links }) => ({
  link: linkOf(await links.service.revoke(actorOf(input), input.caller, input.params.id)),
}));
