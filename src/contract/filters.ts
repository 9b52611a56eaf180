/**
 * The filters of lists. Each is a query parameter of its list, and the option of the command of `ftg` that shows the
 * list. The description of the parameter is the help of the option.
 */
import { type TOptional, type TSchema, Type } from 'typebox';
import { DELIVERY_STATES } from './delivery.js';
import { ID, LATER, TIME, WEBHOOK_ID } from './examples.js';
import { JOB_FILE_STATES, JOB_STATES, JOB_TYPES } from './job.js';
import { limit, offset } from './paging.js';
import { SHA_256 } from './patterns.js';
import { scheduleExample } from './schedule.js';
import { count, descriptionOf, flag, oneOf, text } from './schema.js';
import type { CommandOption } from './thing.js';
import { DIRECTIONS, TRANSFER_STATUSES, TRANSFER_TYPES, transferExample } from './transfer.js';

interface Filter<S extends TSchema = TSchema> {
  readonly kind: 'filter';
  readonly schema: S;
  readonly option?: CommandOption;
}

export type Filters = Readonly<Record<string, Filter>>;

/** The query parameters of a list. */
export function queryOf<F extends Filters>(filters: F): { readonly [N in keyof F]: F[N]['schema'] } {
  const schemas = Object.entries(filters).map(([name, { schema }]) => [name, schema] as const);
  return Object.fromEntries(schemas) as { readonly [N in keyof F]: F[N]['schema'] };
}

type Option = Pick<CommandOption, 'flags'> & Partial<CommandOption>;

function filter<S extends TSchema>(schema: S, option?: Option): Filter<TOptional<S>> {
  return {
    kind: 'filter',
    schema: Type.Optional(schema) as TOptional<S>,
    ...(option === undefined ? {} : { option: { help: helpOf(schema), ...option } }),
  };
}

/** The description in the form of a help: no capital, no full stop, no Markdown. */
function helpOf(schema: object): string {
  return descriptionOf(schema)
    .replaceAll('`', '')
    .replace(/\.$/, '')
    .replace(/^[A-Z](?![A-Z-])/, (letter) => letter.toLowerCase());
}

const pageSize = (maximum: number, otherwise: number, example = otherwise) =>
  ({
    kind: 'filter',
    schema: limit(maximum, otherwise, example),
    option: { flags: '--limit <number>', help: `how many; ${otherwise} when absent` },
  }) as const;

const passedOver = {
  kind: 'filter',
  schema: offset(),
  option: { flags: '--offset <number>', help: 'how many to pass over' },
} as const;

const named = (description: string, example: string, maxLength = 64) =>
  text(description, { minLength: 1, maxLength, examples: [example] });

const since = (description: string, example = TIME) => filter(named(description, example), { flags: '--since <time>' });
const until = (description: string) => filter(named(description, LATER), { flags: '--until <time>' });

/** Both ends are exclusive. */
const period = {
  since: since('Only newer ones: an ISO 8601 date-time, or Unix seconds.'),
  until: until('Only older ones: an ISO 8601 date-time, or Unix seconds.'),
};

const connection = (description: string, maxLength: number) =>
  filter(named(description, 'warehouse', maxLength), { flags: '--connection <id>' });

const status = (description: string) =>
  filter(oneOf(TRANSFER_STATUSES, description, { examples: ['success'] }), { flags: '--status <status>' });

const KIND = 'Kind of transfer.';
const ofTransfers = { flags: '--type <type>', choices: TRANSFER_TYPES };

const digest = filter(
  text('Only transfers of a file with this SHA-256: `sha-256:` and 64 hexadecimal digits.', {
    pattern: SHA_256,
    examples: [transferExample.digest],
  }),
  { flags: '--digest <digest>' },
);

const link = filter(named('Only transfers that came by this link.', transferExample.id), { flags: '--link <id>' });

/** The history, for keys. */
export const transferFilters = {
  connection_id: connection('Only transfers of this connection.', 128),
  status: status('State of the transfer.'),
  // Two types that this gateway never has are accepted nevertheless.
  type: filter(oneOf([...TRANSFER_TYPES, 'email', 'pickup'], KIND, { examples: ['upload'] }), ofTransfers),
  digest,
  link_id: link,
  since: since('Only newer transfers: an ISO 8601 date-time, or Unix seconds.', '2026-01-31T00:00:00Z'),
};

export const transferListFilters = { ...transferFilters, limit: pageSize(100, 20), offset: passedOver };

/** The history and its export, for owners. */
export const managedTransferFilters = {
  connectionId: connection('Id of a connection.', 128),
  status: status('State.'),
  type: filter(text(KIND, { minLength: 1, maxLength: 32, pattern: '^[a-z]+$', examples: ['upload'] }), ofTransfers),
  direction: filter(
    oneOf(DIRECTIONS, '`outbound` changes the remote server, `inbound` reads from it.', { examples: ['outbound'] }),
    { flags: '--direction <direction>' },
  ),
  ...period,
  search: filter(named('Part of the path or the name, in any case.', 'report', 255), { flags: '--search <text>' }),
  digest,
  linkId: link,
  keyId: filter(named('Id of the API key that asked.', ID), { flags: '--key <id>' }),
  errorCode: filter(
    text('Code of the error, as `X-Error-Code` carries it.', {
      minLength: 1,
      maxLength: 64,
      pattern: '^[a-z_]+$',
      examples: ['login_refused'],
    }),
    { flags: '--error-code <code>' },
  ),
  requestId: filter(named('`X-Request-Id` of the request.', 'order-4711', 255), { flags: '--request-id <id>' }),
  minBytes: filter(count('Only those of at least so many bytes.', { examples: [1_048_576] }), {
    flags: '--min-size <size>',
    help: 'only those of at least so many bytes, such as 512K or 10M',
    unit: 'bytes',
  }),
  lookups: filter(
    flag('false = without lists, look-ups and polls, unless `type` is one of them.', { examples: [false] }),
    { flags: '--lookups <true|false>' },
  ),
};

export const jobFilters = {
  state: filter(oneOf(JOB_STATES, 'Only those in this state.', { examples: ['running'] }), {
    flags: '--state <state>',
  }),
  type: filter(oneOf(JOB_TYPES, 'Only those of this type.', { examples: ['sync'] }), { flags: '--type <type>' }),
  ...period,
  scheduleId: filter(text('Only those that this schedule began.', { examples: [scheduleExample.id] }), {
    flags: '--schedule <id>',
  }),
};

export const jobFileFilters = {
  state: filter(oneOf(JOB_FILE_STATES, 'Only those in this state.', { examples: ['failed'] }), {
    flags: '--state <state>',
  }),
};

/** A request to send many deliveries again has these too, and must name a state. */
export const deliveryFilters = {
  watchedFolderId: filter(named('Id of a watched folder.', ID), { flags: '--folder <id>' }),
  webhookId: filter(named('Id of a webhook.', WEBHOOK_ID), { flags: '--webhook <id>' }),
  jobId: filter(named('Id of a job.', ID), { flags: '--job <id>' }),
  connectionId: connection('Id of a connection that the event is about.', 64),
  type: filter(named('Kind of event.', 'watched_folder.files_detected'), { flags: '--type <type>' }),
  url: filter(named('A part of the URL of the receiver.', 'example.com', 200), { flags: '--url <text>' }),
  since: since('Made then or later: an ISO 8601 date-time, or Unix seconds.'),
  until: until('Made before: an ISO 8601 date-time, or Unix seconds.'),
  state: filter(oneOf(DELIVERY_STATES, 'State.', { examples: ['dead'] }), { flags: '--state <state>' }),
};

export const deliveryListFilters = { ...deliveryFilters, limit: pageSize(200, 50, 20), offset: passedOver };

/** The events, newest first. `ftg tail` has filters for several values. */
export const feedFilters = {
  type: filter(named('Only events of this type.', 'connection.up')),
  ...period,
};

const after = (description: string, example: number, help?: string) =>
  filter(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, examples: [example] }), {
    flags: '--after <sequence>',
    ...(help === undefined ? {} : { help }),
  });

/** The events, in order. */
export const eventFilters = {
  after: after(
    'Only events with a higher `sequence`; absent = from the oldest that is kept.',
    41,
    'only events after this one',
  ),
};

export const receiptFilters = { after: after('Only later ones.', 0) };

export const auditFilters = {
  ...period,
  action: filter(
    text('Only this area (`connection`) or action (`connection.update`).', {
      minLength: 1,
      maxLength: 64,
      pattern: '^[a-z_.]+$',
      examples: ['connection.update'],
    }),
    { flags: '--action <action>' },
  ),
};

export const auditListFilters = { ...auditFilters, limit: pageSize(200, 50, 20) };
