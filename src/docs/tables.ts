/**
 * Tables of pages that are made from definitions: the build replaces `<!-- table errors 404 409 -->` and the line below
 * it.
 */
import { STATUS_CODES } from 'node:http';
import type { TObject } from 'typebox';
import { fieldsOf } from '../contract/connection/schemas.js';
import { CONNECTION_TYPES } from '../contract/connection/types.js';
import { ATTENTION } from '../contract/attention.js';
import { CLIENT_ERRORS, errorCodes, type ErrorDefinition, ERRORS } from '../contract/errors.js';
import { EVENT_TYPES, EVENTS } from '../contract/event.js';
import { EXITS } from '../contract/exit-codes.js';
import { FILENAME_TOKENS } from '../contract/file-request.js';
import {
  auditListFilters,
  deliveryListFilters,
  type Filters,
  jobFilters,
  managedTransferFilters,
  transferListFilters,
} from '../contract/filters.js';
import { jobOptionFields } from '../contract/job.js';
import { JOB_OPTION_NAMES, JOB_OPTIONS, ORDER_TYPES } from '../contract/job-options.js';
import { linkFields } from '../contract/link.js';
import { descriptionOf } from '../contract/schema.js';
import { type Fields, settable } from '../contract/thing.js';
import { CHECK_REASONS } from '../contract/watch-check.js';
import { watchedFolderFields } from '../contract/watched-folder.js';
import { webhookFields } from '../contract/webhook.js';
import { WEBHOOK_HEADERS } from '../api/openapi/apis.js';
import { TOOLS } from '../mcp/tools.js';
import { METRICS } from '../observe/metric-table.js';
import { configurationSections } from './configuration.js';
import { describedRoutes } from './route-table.js';

/** The page with its tables. @throws Error if it names an unknown table */
export function withTables(page: string): string {
  // The line below shows readers of the file where to find the table.
  return page.replaceAll(/^<!-- table (\w+)([\w ]*) -->(\n_.*_$)?/gm, (_, name: string, words: string) => {
    const table = new Map(Object.entries(TABLES)).get(name);
    if (table === undefined) throw new Error(`there is no table ${name}, only ${Object.keys(TABLES).join(', ')}`);
    return table(words.trim().split(' '));
  });
}

const FIELD_HEADS = ['field', 'default', 'values', 'meaning'];

const TABLES: Readonly<Record<string, (words: readonly string[]) => string>> = {
  errors: errorTable,
  statuses: statusTable,
  clientErrors: () =>
    tableOf(
      ['code', 'meaning', 'what to do'],
      Object.entries(CLIENT_ERRORS).map(([code, { meaning, remedy }]) => [`\`${code}\``, meaning, remedy]),
    ),
  events: eventTable,
  jobOptions: jobTable,
  watchedFolder: () => fieldTable(watchedFolderFields),
  link: () => fieldTable(linkFields),
  webhook: () => fieldTable(webhookFields),
  filters: filterTable,
  request: requestTable,
  connection: connectionTable,
  attention: () =>
    tableOf(
      ['`kind`', 'when', 'with'],
      Object.entries(ATTENTION).map(([kind, { found, about }]) => [
        `\`${kind}\``,
        found,
        about === undefined ? '' : `\`${about}Id\``,
      ]),
    ),
  configuration: () => configurationSections(),
  metrics: () =>
    tableOf(
      ['metric', 'kind', 'labels', 'meaning'],
      Object.values(METRICS).map((metric) => [
        `\`${metric.name}\``,
        'buckets' in metric ? 'histogram' : metric.name.endsWith('_total') ? 'counter' : 'gauge',
        quoted(metric.labels),
        metric.help,
      ]),
    ),
  tools: () =>
    tableOf(
      ['tool', 'scope', 'what it does', 'destructive'],
      TOOLS.map(({ name, scopes, description, annotations }) => [
        `\`${name}\``,
        scopes.length === 0 ? 'any' : scopes.map((scope) => `\`${scope}\``).join(' or '),
        description,
        annotations.destructiveHint ? 'yes' : 'no',
      ]),
    ),
  exitCodes: () =>
    tableOf(
      ['exit code', 'means', 'status of the answer'],
      Object.values(EXITS).map(({ code, meaning, statuses }) => [String(code), meaning, statuses.join(', ')]),
    ),
  filenameTokens: () =>
    tableOf(
      ['token', 'value', 'meaning'],
      Object.entries(FILENAME_TOKENS).map(([token, { example, meaning }]) => [
        `\`{${token}}\``,
        `\`${example}\``,
        meaning,
      ]),
    ),
  checkReasons: () =>
    tableOf(
      ['reason', 'meaning'],
      Object.entries(CHECK_REASONS).map(([reason, { meaning }]) => [`\`${reason}\``, meaning]),
    ),
  webhookHeaders: () =>
    tableOf(
      ['header', 'meaning'],
      WEBHOOK_HEADERS.map(({ name, description }) => [`\`${name}\``, description]),
    ),
};

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

const RETRY: Readonly<Record<ErrorDefinition['retry'], string>> = {
  no: 'no',
  yes: 'yes',
  later: 'later',
  retry_after: 'after `Retry-After`',
};

function errorTable(statuses: readonly string[]): string {
  const rows = errorCodes(({ status }) => statuses.includes(String(status))).map((code) => {
    const { status, meaning, details = '', retry, remedy } = ERRORS[code];
    return [`\`${code}\``, String(status), `${meaning} ${details}`.trim(), RETRY[retry], remedy];
  });
  return tableOf(['`X-Error-Code`', 'Status', 'Meaning', 'Does a retry help?', 'What to do'], rows);
}

function statusTable(): string {
  const statuses = [...new Set(Object.values(ERRORS).map(({ status }) => status))].sort((one, other) => one - other);
  const rows = statuses.flatMap((status) =>
    Object.entries(RETRY).flatMap(([retry, helps]) => {
      const codes = errorCodes((error) => error.status === status && error.retry === retry);
      return codes.length === 0 ? [] : [[String(status), STATUS_CODES[status] ?? '', quoted(codes), helps]];
    }),
  );
  return tableOf(['status', 'name', 'codes', 'does a retry help?'], rows);
}

function eventTable(): string {
  const rows = EVENT_TYPES.map((type) => {
    const { summary, data } = EVENTS[type];
    return [`\`${type}\``, summary, quoted(Object.keys(data))];
  });
  return tableOf(['`type`', 'when', '`data`'], rows);
}

interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly anyOf?: readonly Shape[];
}

function rowOf(
  name: string,
  schema: object,
  isNeeded: boolean,
  usual = (schema as Shape).default,
  meaning = descriptionOf(schema),
): string[] {
  return [`\`${name}\``, isNeeded ? 'required' : defaultOf(usual), valuesOf(schema), meaning];
}

function fieldTable(fields: Fields): string {
  const rows = settable(fields).map(({ name, field: { schema, isNeeded = false, default: usual, docs } }) =>
    rowOf(name, schema, isNeeded, usual, docs),
  );
  return tableOf(FIELD_HEADS, rows);
}

const FILTERS: Readonly<Record<string, Filters>> = {
  transfers: transferListFilters,
  managedTransfers: managedTransferFilters,
  jobs: jobFilters,
  deliveries: deliveryListFilters,
  audit: auditListFilters,
};

/** The filters of one list. @throws Error for an unknown list */
function filterTable([list = '']: readonly string[]): string {
  const filters = new Map(Object.entries(FILTERS)).get(list);
  if (filters === undefined)
    throw new Error(`there are no filters of ${list}, only of ${Object.keys(FILTERS).join(', ')}`);
  const rows = Object.entries(filters).map(([name, { schema, option }]) => {
    const values = option?.choices === undefined ? valuesOf(schema) : quoted(option.choices);
    const flags = option === undefined ? '' : `\`${option.flags}\``;
    return [`\`${name}\``, defaultOf((schema as Shape).default), values, descriptionOf(schema), flags];
  });
  return tableOf(['query parameter', 'default', 'values', 'meaning', 'option of `ftg`'], rows);
}

/** The query, or else the JSON body, of an operation of the API. @throws Error for an unknown one */
function requestTable([operation = '']: readonly string[]): string {
  const route = describedRoutes().find(({ description }) => description.operationId === operation);
  if (route === undefined) throw new Error(`there is no operation ${operation}`);
  const schema = route.query ?? route.json ?? route.description.body?.['application/json']?.schema;
  const { properties, required = [] } = schema as TObject;
  const isNeeded = (name: string): boolean => (required as readonly string[]).includes(name);
  const rows = Object.entries(properties).map(([name, field]) => rowOf(name, field, isNeeded(name)));
  return tableOf(FIELD_HEADS, rows);
}

function jobTable(): string {
  const rows = JOB_OPTION_NAMES.map((name) => {
    const {
      default: usual,
      schema,
      docs,
    }: { readonly default: unknown; readonly schema: object; readonly docs?: string } = jobOptionFields[name];
    const types = JOB_OPTIONS[name].length === ORDER_TYPES.length ? 'all' : quoted(JOB_OPTIONS[name]);
    return [`\`${name}\``, defaultOf(usual), types, valuesOf(schema), docs ?? descriptionOf(schema)];
  });
  return tableOf(['field', 'default', 'for', 'values', 'meaning'], rows);
}

/** The fields of one connection type, or those that all types share. */
function connectionTable([wanted = '']: readonly string[]): string {
  const fields = CONNECTION_TYPES.filter(({ type }) => type === wanted).flatMap(fieldsOf);
  const isShared = (name: string): boolean =>
    CONNECTION_TYPES.every((definition) => fieldsOf(definition).some((field) => field.name === name));
  const all = wanted === '' ? CONNECTION_TYPES.slice(0, 1).flatMap(fieldsOf) : fields;
  const rows = all
    .filter(({ name }) => isShared(name) === (wanted === ''))
    .map(({ name, schema, isRequired }) => rowOf(name, schema, isRequired));
  return tableOf(FIELD_HEADS, rows);
}

function valuesOf(schema: object): string {
  const { type = [], enum: choices, minimum = 0, maximum, anyOf }: Shape = schema;
  if (choices !== undefined) return quoted(choices);
  if (anyOf !== undefined) {
    const kinds = anyOf.filter((kind) => kind.type !== 'null').map(valuesOf);
    return [...new Set(kinds)].join(' or ');
  }
  if (type.includes('boolean')) return quoted(['true', 'false']);
  if (!type.includes('integer'))
    return type.includes('array') ? 'a list' : type.includes('string') ? 'text' : 'an object';
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  return isBounded ? `${minimum} to ${maximum.toLocaleString('en')}` : `${minimum} or more`;
}

function defaultOf(value: unknown): string {
  const isNone = value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  return isNone ? 'none' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

const quoted = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(' ');
