/**
 * Both OpenAPI documents have everything that those of version 1.1 had (test/api/openapi/stored), except for the changes
 * listed here. A change that clients see is added to the list: it is a decision, not a side effect. Additions and
 * examples are free.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenApiDocument } from '../../../src/api/openapi/types.js';
import { sftp } from '../../../src/contract/connection/sftp.js';
import { EVENT_TYPES } from '../../../src/contract/event.js';
import { ERROR_CODE } from '../../../src/contract/words.js';
import { fileApi, managementApi } from './route-table.js';
import { canonical, differences, type Json, newDemands, storedDocument } from './stored-documents.js';

const ANSWER = 'The first 4 KiB of the answer.';
const ANSWER_HEADERS = 'The first 4 KiB of the header fields of the answer; null where there was none.';

/** By JSON Pointer; `undefined`: removed. */
type Meant = Readonly<Record<string, Json | undefined>>;

const MEANT: Readonly<Record<'api' | 'manage', Meant>> = {
  api: {
    // Answers never contained 0, and requests must not.
    '/components/schemas/CreatedWatchedFolder/properties/expectEveryMinutes/minimum': 1,
    '/components/schemas/WatchedFolder/properties/expectEveryMinutes/minimum': 1,
    // One for each type of event.
    '/components/schemas/NewWebhook/properties/events/maxItems': EVENT_TYPES.length,
    '/components/schemas/WebhookChanges/properties/events/maxItems': EVENT_TYPES.length,
    // A failed transfer can be repeated.
    ...Object.fromEntries(
      ['Conflict', 'ConflictOrSkipped'].map((name) => [
        `/components/responses/${name}/description`,
        '`already_exists`, `is_a_folder`, `not_a_folder`, `not_empty`, `offset_mismatch`, `idempotency_in_progress`, `outcome_unknown`, `sessions_exhausted`, `in_use`, `not_running`, `not_repeatable`, `cancelled`',
      ]),
    ),
    // Owners read the same field with this text.
    '/components/schemas/AccountInfo/properties/email/description': 'E-mail address of the account.',
    '/components/schemas/FailedTransfer/properties/errorCode/description': ERROR_CODE,
    '/components/schemas/TransferDetails/properties/errorCode/description': ERROR_CODE,
    // Sizes are in powers of 1,024.
    '/components/schemas/WebhookTest/properties/answer/description': ANSWER,
    '/components/schemas/WebhookTest/properties/answerHeaders/description': ANSWER_HEADERS,
    '/paths/~1api~1read~1{connectionId}/get/description':
      'Content of a file as text or base64, up to the read limit (10 MiB unless configured otherwise).',
    // A link can take folders.
    '/paths/~1l~1{token}/put/description':
      'The body is the file, of any type. Its name is the `filename` of the link, else `filename` of the query, else that of a Content-Disposition. Without any of these, the `path` of the link is the file itself, unless it ends with a slash. The file becomes visible whole or not at all, and replaces another one only where the link says so. With `folder`, it goes into a folder below. Names that begin with a dot or hold a backslash are refused, and parts of files (`Content-Range`). No key is asked for, and none counts.',
  },
  manage: {
    // Lists of its own are possible besides the two words.
    ...Object.fromEntries(
      ['ConnectionChanges', 'SftpConnection', 'SftpConnectionInput'].flatMap((schema): [string, Json | undefined][] => {
        const field = `/components/schemas/${schema}/properties/algorithms`;
        const { description } = sftp.settings.algorithms.schema as object as { readonly description: string };
        return [
          [`${field}/description`, description],
          [`${field}/enum`, undefined],
          [`${field}/type`, undefined],
        ];
      }),
    ),
    // An authority may certify a host key.
    '/components/schemas/TestReport/properties/hostKey/oneOf/0': undefined,
    // A jump host moves only while no stored secret goes through it.
    '/paths/~1manage~1connections/post/responses/409/description': 'already_exists in_use',
    '/paths/~1manage~1connections~1{id}/patch/description':
      'The fields that change. An absent secret stays, null takes it away; a change of `host`, `port`, `proxy` or `via` needs the password again. A jump host cannot move while stored secrets of others go through it: 409.',
    '/paths/~1manage~1connections~1{id}/patch/responses/409/description': 'from_configuration in_use',
    '/paths/~1manage~1connections~1{id}~1duplicate/post/description':
      'With its secrets. Also one of the configuration file, to have one that can be edited: that copy has no secrets but those given here, and no jump host of that file.',
    '/paths/~1manage~1connections~1{id}~1duplicate/post/responses/409/description': 'already_exists in_use',
    // Sizes are in powers of 1,024.
    '/components/schemas/Attempt/properties/answer/description': ANSWER,
    '/components/schemas/Attempt/properties/answerHeaders/description': ANSWER_HEADERS,
    '/paths/~1manage~1deliveries~1{id}~1attempts/get/description':
      'With what was sent and what the receiver answered: headers, status and the first 4 KiB. Logins and cookies are removed.',
    // While a check runs, another can be queued.
    '/components/schemas/QueuedAnswer/properties/queued/description': 'False when it was queued already.',
    '/paths/~1manage~1watched-folders~1{id}~1check/post/description':
      '`queued` is false when a check waits already; one that runs is followed by another.',
    // A transfer that is repeated has the errors of its operation.
    '/components/responses/BadGateway/description':
      '`dns_failed`, `unreachable`, `login_refused`, `host_key_mismatch`, `certificate_rejected`, `connection_lost`, `protocol_error`, `remote_failure`, `no_space`, `size_mismatch`, `readback_mismatch`, `fetch_failed`',
    '/components/responses/Conflict/description':
      '`already_exists`, `is_a_folder`, `not_a_folder`, `sessions_exhausted`, `in_use`, `from_configuration`, `not_running`, `not_repeatable`, `cancelled`',
    '/components/responses/TooManyRequests/description': '`rate_limited`, `quota_exceeded`, `share_exceeded`',
  },
};
/** What requests need or obey since then, by JSON Pointer. */
const DEMANDS: Readonly<Record<'api' | 'manage', Readonly<Record<string, Json>>>> = {
  api: {},
  manage: {
    // The two words are one of two forms now.
    ...Object.fromEntries(
      ['ConnectionChanges', 'SftpConnectionInput'].map((schema) => [
        `/components/schemas/${schema}/properties/algorithms/oneOf`,
        (canonical(sftp.settings.algorithms.schema) as { readonly oneOf: Json }).oneOf,
      ]),
    ),
  },
};
/** Texts of the schema ErrorCode, in both documents. The other texts got an added sentence with advice. */
const TEXTS: Readonly<Record<string, string>> = {
  bad_request: 'A field, parameter or header is missing, malformed or out of range. The text names it. Correct it.',
  unknown_connection: 'The account has no connection with this id. List the connections, and use one of their ids.',
  unknown_item:
    'There is no session, API key, key pair, transfer, job, webhook or link with this id. List what there is, and use one of those ids.',
  unknown_upload:
    'There is no such resumable upload at this connection. It has expired or failed, or its bytes were removed on the server. Begin a new one.',
  not_found:
    'The file or folder does not exist on the remote server. Check the folder: the file may have been moved or have another name.',
  method_not_allowed: 'The endpoint exists, but not with this method. The header Allow lists its methods.',
  already_exists:
    'A file with this name exists, and the request did not allow replacing it. Choose another name, or allow overwriting.',
  is_a_folder: 'There is a folder where a file was expected. Choose another name, or move the folder away.',
  not_a_folder: 'There is a file where a folder was expected. Choose another folder, or move the file away.',
  not_empty:
    'The folder is not empty, so it was not deleted: it was filled meanwhile, or holds a name that no path can name. Empty it first, or delete it with its contents.',
  offset_mismatch:
    'Upload-Offset is not the number of bytes that the gateway has. Ask for the offset with HEAD, and continue from there.',
  idempotency_in_progress:
    'A request with this Idempotency-Key still runs. Send it again after Retry-After: you get its answer.',
  outcome_unknown:
    'The first request with this Idempotency-Key had begun when its gateway or its session was lost; it is not known whether it was done. The text names its transfer and what is on the remote server now. It never runs again. Look at the remote server, then use a new key.',
  sessions_exhausted:
    'The operation needs more sessions of one login at once than the server or maxSessions allows. Raise the maximum sessions of the connection, if the server allows more.',
  unsupported_version:
    'Tus-Resumable is missing, or names a version that is not in Tus-Version. Send Tus-Resumable: 1.0.0.',
  too_large:
    'The body, the file, the output of a command or the entries of a list are above their limit. Send the file as a resumable upload, ask for less, or ask the operator to raise the limit.',
  unsupported_media_type:
    'The endpoint does not take this Content-Type, or the body has a Content-Encoding. Send a type that the endpoint takes, without a content coding.',
  idempotency_mismatch:
    'This Idempotency-Key was used with another request. Use a new key. A retry must send the same path and content as the first try.',
  upload_locked: 'Another request is writing to this upload. Try again after Retry-After.',
  rate_limited:
    'Too many requests a second with this API key, or another limit that the text names. Wait for Retry-After, and send fewer requests at once.',
  quota_exceeded: 'The actions of this month are used up. Wait for the next month (UTC), or choose another plan.',
  share_exceeded:
    'The account has its fair share of what all accounts use together. Send fewer requests at once, or try again after Retry-After.',
  internal:
    'The gateway hit a bug, or stopped during this operation. Try again. The log has the details under the request id.',
  resume_unsupported:
    'The remote server cannot continue a file that was begun, or the connection writes in place. Use a plain upload.',
  dns_failed: 'The host name of the remote server cannot be resolved. Check the host of the connection.',
  unreachable:
    'The remote server refuses the connection, or there is no route to it. Check host and port, and whether a firewall is in the way. Test the connection.',
  login_refused:
    'The remote server refuses the user, the password or the key of the connection. Correct the login of the connection, then test it.',
  host_key_mismatch:
    'The SFTP server has a different host key than the pinned one. Find out why, then pin the new key at the connection.',
  certificate_rejected:
    'The TLS certificate of the remote server is not trusted, has expired or is for another name. Have it renewed, or give the connection its certificate authority (tlsCa).',
  connection_lost: 'The remote server cut the connection. Nothing of an upload is visible. Try again.',
  protocol_error:
    'The remote server sent an answer that its protocol does not allow. Test the connection. The text of the error helps the operator of the server.',
  remote_failure:
    'The remote server refused for a reason of its own, which the text quotes. Try again later, or ask the operator of the server.',
  no_space: 'The remote server has no space left, or its quota is used up. Make room there, then try again.',
  readback_mismatch:
    'The stored file, read back, differs from what was sent; nothing was replaced, unless the connection writes in place. Try again. If it happens again, have the disk of the server checked.',
  fetch_failed:
    'The URL of an upload answered anything but 2xx, or its answer was cut. Open the URL yourself. It may have expired.',
  pool_full:
    'Too many requests are waiting for a session on this server. Send fewer at once, raise the maximum sessions of the connection, or try again after Retry-After.',
  acquire_timeout:
    'No session on this server became free in time. Send fewer at once, raise the maximum sessions of the connection, or try again after Retry-After.',
  too_slow:
    'The client moved too few bytes while others waited for a session of this server, or too few for a link; nothing of an upload is visible, and a resumable one keeps its bytes. Try again after Retry-After, on a faster line or with a resumable upload.',
  overloaded: 'The gateway is at its limits. Try again after Retry-After.',
  draining: 'The gateway is stopping. Try again after Retry-After: another node answers, or this one when it is back.',
  database_away:
    'The gateway cannot reach its database, or the database takes no writes. Nothing was begun. Try again after Retry-After. If it lasts, inform the operator of the gateway.',
  outcome_unrecorded:
    'The operation was performed on the remote server, but its history item could not be written: the database takes no writes. Check the remote server before you repeat it; there is no Retry-After. Inform the operator of the gateway.',
  command_timeout:
    'The command, or the check of a watched folder, ran too long and was ended. Give it a longer time limit. If it happens often, ask the operator of the server.',
  totp_required: 'The password was right, but the one-time code is missing or wrong. Send it again with the code.',
  from_configuration:
    'The configuration file owns it and would put it back at the next start. Change it in the configuration file.',
};

/** Since version 1.2 every endpoint that uses a server may answer with it. */
function withoutNewCode(document: Json): Json {
  const text = JSON.stringify(document).replaceAll('outside_hours ', '').replaceAll('`outside_hours`, ', '');
  return JSON.parse(text) as Json;
}

const DOCUMENTS = { api: fileApi().document, manage: managementApi().document } as const;

for (const name of ['api', 'manage'] as const) {
  test(`the document of /${name} has all of the stored one, except for the listed changes`, () => {
    const found = differences(
      withoutTexts(storedDocument(name)),
      withoutTexts(withoutNewCode(canonical(DOCUMENTS[name]))),
    ).map(({ at, is: now }) => [at, now]);
    assert.deepEqual(Object.fromEntries(found), MEANT[name]);
  });

  test(`no request of /${name} needs or obeys what it did not in version 1.1, except for the listed demands`, () => {
    assert.deepEqual(newDemands(storedDocument(name), canonical(DOCUMENTS[name])), DEMANDS[name]);
  });

  test(`the errors of /${name} have the stored texts, except for the listed ones`, () => {
    const stored = textsOf(storedDocument(name));
    const changed = Object.entries(textsOf(canonical(DOCUMENTS[name]))).filter(
      ([code, text]) => code in stored && !text.startsWith(stored[code] ?? '?'),
    );
    const meant = Object.entries(TEXTS).filter(([code]) => code in stored);
    assert.deepEqual(Object.fromEntries(changed), Object.fromEntries(meant));
  });

  test(`each error answer of /${name} explains its codes as the schema ErrorCode does`, () => {
    const texts = textsOf(canonical(DOCUMENTS[name]));
    const answers = errorAnswers(DOCUMENTS[name]);
    assert.ok(answers.length > 100, 'the answers were not found');
    for (const description of answers) {
      for (const paragraph of description.split('\n\n')) {
        const [, code = '', text = ''] = /^`(\w+)`: (.+)$/.exec(paragraph) ?? assert.fail(paragraph);
        assert.ok(texts[code]?.startsWith(text), paragraph);
      }
    }
  });
}

test('a difference is found; the order and additions make none', () => {
  const [first = ''] = Object.keys(DOCUMENTS.api.paths);
  const { [first]: item, ...others } = DOCUMENTS.api.paths;
  const turned = { ...DOCUMENTS.api, paths: { ...others, [first]: item } };
  assert.deepEqual(differences(canonical(DOCUMENTS.api), canonical(turned)), []);
  const found = differences(canonical(DOCUMENTS.api), canonical({ ...DOCUMENTS.api, paths: others }));
  assert.deepEqual(
    found.map(({ at }) => at),
    [`/paths/${first.replaceAll('/', '~1')}`],
  );
  const count = (was: object, is: object): number => differences(canonical(was), canonical(is)).length;
  assert.equal(count({ required: ['a', 'b'] }, { required: ['b', 'a'] }), 0);
  assert.equal(count({ prefixItems: ['a', 'b'] }, { prefixItems: ['b', 'a'] }), 2);
  assert.equal(count({ enum: ['a', 'b'] }, { enum: ['c', 'b', 'a'], title: 'new' }), 0);
  assert.equal(count({ enum: ['a', 'b'] }, { enum: ['c', 'b'] }), 1);
  const variant = { properties: { type: { const: 'a' } } };
  assert.equal(count({ oneOf: [variant] }, { oneOf: [{ properties: { type: { const: 'a' }, more: {} } }] }), 0);
  assert.equal(count({ oneOf: [variant] }, { oneOf: [{ properties: { type: { const: 'b' } } }] }), 1);
});

test('what a request needs or obeys from now on is found, also behind a reference and in one of several forms', () => {
  const documentOf = (field: object, others: object = {}, parameters: readonly object[] = []): Json => {
    const body = { schema: { oneOf: [{ $ref: '#/components/schemas/A' }, { type: 'string' }] } };
    const operation = { requestBody: { content: { 'application/json': body } }, parameters };
    const properties = { again: { $ref: '#/components/schemas/A' }, pattern: field };
    return canonical({
      paths: { '/a': { post: operation } },
      components: { schemas: { A: { type: 'object', properties, ...others } } },
    });
  };
  const changed = (before: Json, after: Json): object => newDemands(before, after);
  const at = '/components/schemas/A';
  const [one, two] = [documentOf({}, { required: ['one'] }), documentOf({}, { required: ['one', 'two'] })];
  assert.deepEqual(changed(one, two), { [`${at}/required`]: ['two'] });
  assert.deepEqual(changed(two, one), {});
  const limits = { pattern: '^a$', minimum: 1, maxLength: 9, enum: ['a'], type: 'string', format: 'uri' };
  for (const [name, value] of Object.entries(limits)) {
    const [free, bound] = [documentOf({}), documentOf({ [name]: value })];
    assert.deepEqual(changed(free, bound), { [`${at}/properties/pattern/${name}`]: value });
    assert.deepEqual(changed(bound, free), {});
  }
  assert.deepEqual(changed(one, documentOf({}, { additionalProperties: false })), {
    [`${at}/additionalProperties`]: false,
  });
  const parameter = { name: 'n', in: 'query', schema: { type: 'string' } };
  const demanded = { ...parameter, required: true, schema: { type: 'string', maxLength: 3 } };
  const query = '/paths/~1a/post/parameters/query n';
  assert.deepEqual(changed(documentOf({}, {}, [parameter]), documentOf({}, {}, [demanded])), {
    [`${query}/required`]: true,
    [`${query}/schema/maxLength`]: 3,
  });
  assert.deepEqual(changed(documentOf({}), documentOf({}, {}, [demanded])), { [`${query}/required`]: true });
  assert.deepEqual(changed(documentOf({}), documentOf({}, {}, [parameter])), {});
});

interface CodeSchema {
  readonly const: string;
  readonly description: string;
}

function codesOf(document: Json): readonly CodeSchema[] {
  const { components } = document as unknown as OpenApiDocument;
  return components.schemas['ErrorCode']?.['oneOf'] as readonly CodeSchema[];
}

function textsOf(document: Json): Record<string, string> {
  return Object.fromEntries(codesOf(document).map(({ const: code, description }) => [code, description]));
}

function withoutTexts(document: Json): Json {
  const { components } = document as unknown as OpenApiDocument;
  const oneOf = Object.fromEntries(
    codesOf(document).map(({ const: code, ...rest }) => [code, { ...rest, description: '' }]),
  );
  const schemas = { ...components.schemas, ErrorCode: { ...components.schemas['ErrorCode'], oneOf } };
  return { ...(document as object), components: { ...components, schemas } } as unknown as Json;
}

function errorAnswers({ paths }: OpenApiDocument): string[] {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  return operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, { description = '' }]) => (/^[45]/.test(status) ? [description] : [])),
  );
}
