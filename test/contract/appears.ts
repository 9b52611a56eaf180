/** A program: where the invented changes of recipes.ts appear, in the project that has them. */
import { fileURLToPath } from 'node:url';
import { EVENT_NAMES } from '../../src/contract/derived/event-texts.js';
import { ERRORS } from '../../src/contract/errors.js';
import { watchedFolderFields } from '../../src/contract/watched-folder.js';
import { columnNamesOf, shownFields } from '../../src/contract/thing.js';
import { textsOfClients } from '../../src/build/clients/texts.js';
import { createProgram } from '../../src/cli/program.js';
import { manPage } from '../../src/cli/man/page.js';
import { exampleFile } from '../../src/config/example.js';
import { configSchema } from '../../src/config/schema.js';
import { apiKeyFields } from '../../src/contract/api-key.js';
import { CONNECTION_TYPES } from '../../src/contract/connection/types.js';
import { readSources } from '../../src/docs/sources.js';
import { fileApi, managementApi } from '../api/openapi/route-table.js';
import { explain } from '../../src/mcp/explain.js';
import { TOOLS } from '../../src/mcp/tools.js';
import { PROPERTIES } from '../../src/n8n/properties.js';
import { RECIPES } from './recipes.js';

const [field, setting, option, right, part, code, kind, event] = RECIPES.map(({ name }) => name);
const documents = [fileApi(), managementApi()].map(({ document }) => JSON.stringify(document));
const clients = Object.entries(textsOfClients());
const { signal } = new AbortController();
const program = await createProgram({ words: ['connections'], signal, version: '0', handOver: () => undefined });
const help = manPage(program, '0');
const page = (name: string): string => readSources().find(({ file }) => file === name)?.text ?? '';
const client = (name: string, end: string): boolean =>
  clients.some(([file, text]) => file.endsWith(end) && text.includes(name));
const pythonTypes = (clients.find(([file]) => file.endsWith('/types.py'))?.[1] ?? '').split('\n\n\n');
/** The definition of this type in Python has this text. */
const dictionary = (name: string, text: string): boolean =>
  pythonTypes.some((definition) => new RegExp(`^(class )?${name}\\b`).test(definition) && definition.includes(text));
/** Both halves of the Python client have these lines. */
const inPython = (module: string, ...lines: readonly string[]): boolean =>
  lines.every((line) => ['_async', '_sync'].every((half) => client(`        ${line}\n`, `/${half}/${module}.py`)));
const tool = (name: string, argument: string | undefined): boolean =>
  argument !== undefined && argument in (TOOLS.find((one) => one.name === name)?.input.properties ?? {});

/** The places where each change has to appear, by its name. */
const places: Readonly<Record<string, Readonly<Record<string, boolean>>>> = {
  [field ?? '']: {
    'OpenAPI of /api': documents[0]?.includes(`"${field}"`) === true,
    'OpenAPI of /manage': documents[1]?.includes(`"${field}"`) === true,
    'answers to owners': field !== undefined && field in shownFields(watchedFolderFields, 'owner'),
    'the row': columnNamesOf(watchedFolderFields)[field ?? ''] === field,
    'ftg and its manual page': help.includes('files\\-per\\-check'),
    'types for TypeScript': client(`${field}?:`, 'api-types.ts'),
    'types for Python': ['NewWatchedFolder', 'WatchedFolderChanges'].every((name) =>
      dictionary(name, `${field}: NotRequired[Optional[int]]`),
    ),
    documentation: page('docs/integrate/watched-folders.md').includes(`| \`${field}\` |`),
  },
  [setting ?? '']: {
    'OpenAPI of /manage': documents[1]?.includes(`"${setting}"`) === true,
    'gateway.yaml': exampleFile().includes(`#         ${setting}: 10 # `),
    'ftg and its manual page': help.includes('keep\\-alive\\-seconds'),
    'types for TypeScript': client(`${setting}:`, 'management-types.ts'),
    'documentation of the API': page('docs/operate/manage-api.md').includes(`| \`${setting}\` | \`10\` |`),
    'documentation of the file': page('docs/operate/configuration.md').includes(`connections[sftp].${setting}\``),
  },
  [option ?? '']: {
    'OpenAPI of /api': documents[0]?.includes(`"${option}"`) === true,
    'OpenAPI of /manage': documents[1]?.includes(`"${option}"`) === true,
    'ftg and its manual page': help.includes('skip\\-hidden'),
    'types for TypeScript': client(`${option}?:`, 'api-types.ts'),
    'types for Python': dictionary('NewJob', `${option}: NotRequired[bool]`),
    MCP: tool('create_job', option),
    documentation: page('docs/integrate/jobs.md').includes(`| \`${option}\` |`),
  },
  [right ?? '']: {
    'OpenAPI of /manage': documents[1]?.includes(`"${right}"`) === true,
    'gateway.yaml': exampleFile().includes(`#         ${right}: releases # What the key is for.\n`),
    'its schema': JSON.stringify(configSchema(CONNECTION_TYPES)).includes(`"${right}"`),
    'the row': columnNamesOf(apiKeyFields)[right ?? ''] === right,
    'ftg and its manual page': help.includes('purpose'),
    'types for TypeScript': client(`${right}?:`, 'management-types.ts'),
    'documentation of the file': page('docs/operate/configuration.md').includes(`accounts[].apiKeys[].${right}\``),
  },
  [part ?? '']: {
    'OpenAPI of /api': documents[0]?.includes(`"${part}"`) === true,
    'types for TypeScript': client(`${part}?:`, 'api-types.ts'),
    'types for Python': dictionary('CopyRequest', `${part}: NotRequired[bool]`),
    'methods for Python': inPython('client', `${part}: Optional[bool] = None,`, `    "${part}": ${part},`),
    MCP: tool('copy_file', part),
    n8n: JSON.stringify(PROPERTIES).includes(`"name":"${part}"`),
  },
  [code ?? '']: {
    'OpenAPI of /api': documents[0]?.includes(`"${code}"`) === true,
    'OpenAPI of /manage': documents[1]?.includes(`"${code}"`) === true,
    'types for TypeScript': client(`'${code}'`, 'api-types.ts'),
    'types for Python': dictionary('ErrorCode', `"${code}"`),
    'jobs and answers': Object.hasOwn(ERRORS, code ?? ''),
    MCP: explain(code ?? '') !== undefined,
    'documentation of errors': page('docs/integrate/errors.md').includes(`| \`${code}\` | 503 |`),
  },
  [kind ?? '']: {
    'OpenAPI of /manage': documents[1]?.includes(`"${kind}"`) === true,
    'OpenAPI of events': documents[0]?.includes(`"${kind}"`) === true,
    'types for TypeScript': client(`'${kind}'`, 'management-types.ts'),
    'types for Python': client(`"${kind}"`, 'types.py'),
    documentation: page('docs/operate/manage-api.md').includes(`| \`${kind}\` |`),
  },
  [event ?? '']: {
    'OpenAPI of /api, its webhooks': documents[0]?.includes('"ConnectionSlowEvent"') === true,
    'filters and subscriptions': documents[0]?.includes(`"${event}"`) === true,
    'ftg and its manual page': help.includes('connection.slow'),
    'types for TypeScript': client(`'${event}'`, 'api-types.ts'),
    'types for Python': dictionary('ConnectionSlowEvent', `type: Literal["${event}"]`),
    'subscriptions for Python': dictionary('NewWebhook', `"${event}"`),
    'events for Python': dictionary('WebhookEvent', '    ConnectionSlowEvent,'),
    'choices of n8n': Object.values<string>(EVENT_NAMES).includes('Connection Slow'),
    documentation: page('docs/integrate/events.md').includes(`\`${event}\``),
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(JSON.stringify(places));
