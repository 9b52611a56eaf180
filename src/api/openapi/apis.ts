/** The parts of both APIs that no endpoint defines, and the events that the gateway sends (Standard Webhooks). */
import type { Route } from '../../http/types.js';
import { EVENT_TYPES, eventExample, EVENTS, eventSchema, type EventType } from '../../contract/event.js';
import type { Api, OperationObject, Parameter, PathItem, Schema } from './types.js';

/** The header fields of a delivery. */
export const WEBHOOK_HEADERS: readonly Omit<Parameter, 'in' | 'required'>[] = [
  {
    name: 'webhook-id',
    description: 'Identifies the event and never changes: a receiver that has seen it has handled it.',
    schema: { type: 'string' },
    example: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1d00d',
  },
  {
    name: 'webhook-timestamp',
    description: 'Unix seconds of this delivery; refuse what is older than a few minutes.',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1769860800',
  },
  {
    name: 'webhook-signature',
    description:
      '`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body` with the secret of the watched folder, of the account for jobs, or of the webhook; several, separated by spaces, while a secret is being replaced.',
    schema: { type: 'string', pattern: '^v1,' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
];

function webhooks(shown: (schema: object) => Schema): Readonly<Record<string, PathItem>> {
  const types = Object.keys(EVENTS) as EventType[];
  return Object.fromEntries(types.map((type) => [type, { post: operationOf(type, shown(eventSchema(type))) }]));
}

/** The owners of the `webhookUrl` that an event goes to. */
const OWNERS = {
  folder: { tag: 'Watched folders', owner: 'the `webhookUrl` of the watched folder' },
  job: { tag: 'Jobs', owner: 'the `webhookUrl` of the job' },
};
const WEBHOOKS = 'the webhooks that ask for its type';

function operationOf(type: EventType, schema: Schema): OperationObject {
  const { operationId, summary, of } = EVENTS[type];
  const { tag, owner } = of === undefined ? { tag: 'Events', owner: undefined } : OWNERS[of];
  const isSubscribed = (EVENT_TYPES as readonly string[]).includes(type);
  const receivers = [owner, isSubscribed ? WEBHOOKS : undefined].filter((one) => one !== undefined).join(' and to ');
  return {
    operationId,
    tags: [tag],
    summary,
    description: `Sent to ${receivers}, at least once. Anything but 2xx is tried again later, with the same \`webhook-id\`; redirects are not followed.`,
    security: [],
    parameters: WEBHOOK_HEADERS.map((header) => ({ ...header, in: 'header', required: true })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema, examples: { event: { value: eventExample(type) } } } },
    },
    responses: {
      '2XX': { description: 'Delivered.' },
      '410': {
        description: 'The receiver is gone for good: no further deliveries of this folder, or to this webhook.',
      },
      default: { description: 'Not delivered: tried again later; Retry-After is honoured.' },
    },
  };
}

const FILES_INTRODUCTION = `Moves and manages files on SFTP, FTP and S3 servers over HTTP, from one outbound address.

Send the API key as \`Authorization: Bearer ftg_…\`. Bodies are JSON unless stated.

Every failure is \`{ "error": string }\`; the header \`X-Error-Code\` carries one of the codes of \`ErrorCode\`, which do not change.
\`X-Request-Id\` finds the request in the log. With \`Retry-After\`, another try makes sense after that many seconds. A request
with \`Idempotency-Key\` can be sent again without fear: it runs once.`;

/** For programs: files, connections, history, watched folders. */
export const FILE_API: Api = {
  title: 'File Transfer Gateway',
  summary: 'A streaming JSON-over-HTTP gateway to SFTP, FTP and S3 servers',
  introduction: FILES_INTRODUCTION,
  tags: [
    { name: 'Files', description: 'Operations on files.' },
    {
      name: 'Resumable uploads',
      description: 'Files that come in pieces, over bad lines and on any node (tus 1.0.0).',
    },
    { name: 'Folders', description: 'Operations on folders.' },
    { name: 'Commands', description: 'Commands over SSH.' },
    { name: 'Account', description: 'The account, its connections and its history.' },
    {
      name: 'Watched folders',
      description: 'Folders that are checked at an interval, and the event that reports new files.',
    },
    { name: 'Jobs', description: 'Whole folders: copied, moved, deleted or kept alike, on whichever nodes live.' },
    { name: 'Schedules', description: 'Jobs that begin by the clock.' },
    { name: 'Events', description: 'What has happened in the account: a feed without holes, and webhooks.' },
    {
      name: 'Links',
      description: 'URLs that need no key and do one thing: take files into one folder, or give one file.',
    },
    { name: 'System', description: 'The gateway itself.' },
  ],
  owns: (path) => !path.startsWith('/manage/'),
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key, `ftg_…`. The scopes are those of the key.',
    },
    metricsToken: { type: 'http', scheme: 'bearer', description: '`metrics.token` of the configuration.' },
  },
  securityOf: fileSecurity,
  webhooks,
};

function fileSecurity({ access, path }: Route): OperationObject['security'] {
  if (access === 'public') return path === '/metrics' ? [{}, { metricsToken: [] }] : [];
  return [{ apiKey: access === 'any' ? [] : [access] }];
}

const MANAGEMENT_INTRODUCTION = `What the owner of an account does, by hand or by program: connections, API keys, the history with live progress, watched folders.

Send either an API key with the scope \`admin\` as \`Authorization: Bearer ftg_…\`, or the session cookie of \`POST /manage/login\` and, but for GET and HEAD, its
CSRF token as \`X-CSRF-Token\`. Bodies are JSON; where an operation shows a body it must be there, if only as \`{}\`.

Every failure is \`{ "error": string }\`; the header \`X-Error-Code\` carries one of the codes of \`ErrorCode\`, which do not change. Everything is the account's
own: an id of another account and one that never was get the same 404.`;

/** For the account's owner: the basis of the dashboard and `ftg`. */
export const MANAGEMENT_API: Api = {
  title: 'File Transfer Gateway management',
  summary: 'Connections, API keys, history and watched folders of an account',
  introduction: MANAGEMENT_INTRODUCTION,
  tags: [
    { name: 'Login', description: 'Login sessions, the password, one-time passwords.' },
    { name: 'Account', description: 'The account, its month and what was changed.' },
    { name: 'Connections', description: 'Servers, their host keys and their test.' },
    { name: 'API keys', description: 'What programs log in with.' },
    { name: 'Transfers', description: 'The history, and what runs now.' },
    { name: 'Events', description: 'What has happened in the account, newest first.' },
    { name: 'Alarms', description: 'Who gets an e-mail when something needs attention.' },
    { name: 'Jobs', description: 'Jobs as they go; `/api/jobs` begins and changes them, also with a session.' },
    {
      name: 'Watched folders',
      description: 'Folders that are checked at an interval, and what is delivered from them.',
    },
    { name: 'System', description: 'This description.' },
  ],
  owns: (path) => path.startsWith('/manage/'),
  securitySchemes: {
    adminKey: { type: 'http', scheme: 'bearer', description: 'An API key with the scope `admin`.' },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'ftg_session',
      description: 'The cookie that `POST /manage/login` sets; over HTTPS `__Host-ftg_session`.',
    },
    csrfToken: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token', description: '`csrfToken` of the session.' },
  },
  securityOf: managementSecurity,
  webhooks: () => ({}),
};

function managementSecurity({ access, method }: Route): OperationObject['security'] {
  if (access === 'public') return [];
  return [{ adminKey: [] }, method === 'GET' ? { session: [] } : { session: [], csrfToken: [] }];
}
