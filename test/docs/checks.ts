/** The checks of blocks that are not executed, by the name in their fence. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CASES } from '../../bench/cases/all.js';
import { readOptions } from '../../bench/options.js';
import { openTracer } from '../../src/observe/tracing.js';
import { loadConfig } from '../../src/config/load.js';
import { ANSWER_HEADERS } from '../../src/api/openapi/header-fields.js';
import { quickStartBanner } from '../../src/app/quick-start-banner.js';
import { PASSING_ON } from '../../src/base/span.js';
import { signatures } from '../../src/events/send.js';
import { inFormat } from '../../src/events/format.js';
import { closed } from '../api/openapi/answer-checker.js';
import { fileApi, managementApi } from '../api/openapi/route-table.js';
import { release } from './release-check.js';
import { ROOT } from './snippets.js';

/** Throws where the block is wrong. */
export type Check = (code: string) => void | Promise<void>;

export const CHECKS: Readonly<Record<string, Check>> = {
  scripts,
  bench,
  banner,
  prometheus,
  traces,
  'Server-Timing': serverTiming,
  n8n,
  zapier,
  mcp,
  release,
  'webhook/CloudEvent': cloudEvent,
  'webhook/FilesDetectedEvent': schema('FilesDetectedEvent', fileApi),
  'watch/NewWatchedFolder': schema('NewWatchedFolder', fileApi),
  deploy,
  cli,
  curl,
  start,
  rotate,
  configuration,
  ...Object.fromEntries(
    [
      'AccountInfo',
      'UploadAnswer',
      'DownloadAnswer',
      'ReadAnswer',
      'WriteAnswer',
      'AppendAnswer',
      'MkdirAnswer',
      'ListAnswer',
      'ExistsAnswer',
      'MoveAnswer',
      'DeleteAnswer',
      'CopyAnswer',
      'ExecAnswer',
      'ConnectionsAnswer',
      'TransfersAnswer',
      'TransferAnswer',
      'NewJob',
      'JobAnswer',
      'JobFilesAnswer',
      'ScheduleAnswer',
      'CreatedWatchedFolder',
      'CreatedWebhook',
      'EventsAnswer',
      'JobFinishedEvent',
      'TransferFailedEvent',
      'ConnectionDownEvent',
    ].map((name) => [`api/${name}`, schema(name, fileApi)]),
  ),
  ...Object.fromEntries(
    [
      'LoginAnswer',
      'Account',
      'Brand',
      'ManagedConnection',
      'TestReport',
      'ConnectionHealth',
      'Overview',
      'Usage',
      'Alarms',
    ].map((name) => [`manage/${name}`, schema(name, managementApi)]),
  ),
};

/** Each line is a command of npm, and its script exists. */
function scripts(code: string): void {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  for (const command of commandsOf(code).flatMap((line) => line.split(' && '))) {
    const [, script] = /^npm (?:ci$|run ([\w:-]+)|(test|start))/.exec(command)?.filter(Boolean) ?? assert.fail(command);
    assert.ok(script === undefined || script in manifest.scripts, command);
  }
}

/** Commands of other programs (docker, kubectl, systemctl): the files of this project that they name exist. */
function deploy(code: string): void {
  const commands = commandsOf(code);
  assert.ok(commands.length > 0);
  for (const command of commands) {
    for (const [file] of command.matchAll(/\bconfig\/[\w./-]+/g)) assert.ok(existsSync(join(ROOT, file)), file);
  }
}

/** Each line is a command on the page of the command line; another test compares that page with the program. */
function cli(code: string): void {
  const page = readFileSync(join(ROOT, 'docs/integrate/cli.md'), 'utf8');
  for (const command of commandsOf(code)) {
    const [, name = ''] = /^ftg ([a-z-]+)/.exec(command) ?? assert.fail(command);
    assert.ok(page.includes(`| \`ftg ${name} `), command);
  }
}

/** Each request goes to a path of the API. */
function curl(code: string): void {
  const paths = Object.keys(fileApi().document.paths);
  for (const command of commandsOf(code)) {
    const [, path = ''] = /^curl .*(\/api\/[^?"\s]*)/.exec(command) ?? assert.fail(command);
    const isKnown = paths.some((one) => new RegExp(`^${one.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
    assert.ok(isKnown, command);
  }
}

/** `npm start` with variables that the configuration accepts. */
function start(code: string): void {
  for (const command of commandsOf(code)) {
    const [, name = '', value = ''] = /^([A-Z_]+)=(\S+) npm start$/.exec(command) ?? assert.fail(command);
    assert.notDeepEqual(loadConfig({ env: { [name]: value } }), loadConfig({ env: {} }), command);
  }
}

/** A configuration file that the gateway accepts, once its variables are set. */
function configuration(code: string): void {
  const env = Object.fromEntries([...code.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, `value-of-${name}`]));
  const folder = mkdtempSync(join(tmpdir(), 'ftg-configuration-'));
  try {
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, code);
    loadConfig({ file, env: { ...env, DATABASE_URL: 'postgres://gateway:secret@localhost/gateway' } });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Commands of the program itself. */
function rotate(code: string): void {
  const program = readFileSync(join(ROOT, 'src/main.ts'), 'utf8');
  const commands = [...code.matchAll(/node dist\/bundle\/main\.js (\S+)/g)].map(([, name = '']) => name);
  assert.ok(commands.length > 0);
  for (const name of commands) assert.ok(program.includes(`'${name}'`), name);
}

function bench(code: string): void {
  const known = CASES.map(({ name }) => name);
  for (const command of commandsOf(code)) {
    const [, words = ''] = /^npm run bench(?: -- (.*))?$/.exec(command) ?? assert.fail(command);
    const args = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
    assert.ok(readOptions(args, known).cases.length > 0, command);
  }
}

/** The lines of a shell block without the text after "#". */
function commandsOf(code: string): string[] {
  return code
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '');
}

function banner(code: string): void {
  const credentials = { apiKey: 'ftg_…', password: '…' };
  const shown = quickStartBanner({ url: 'http://127.0.0.1:8080', dataDir: './data', credentials });
  assert.ok(shown.startsWith(code), shown);
}

function prometheus(code: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'ftg-prometheus-'));
  try {
    copyFileSync(join(ROOT, 'config/prometheus/alerts.yaml'), join(folder, 'alerts.yaml'));
    writeFileSync(join(folder, 'prometheus.yml'), code);
    execFileSync('promtool', ['check', 'config', 'prometheus.yml'], { cwd: folder, stdio: 'pipe' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function traces(code: string): Promise<void> {
  const env = Object.fromEntries(
    code
      .trim()
      .split('\n')
      .map((line) => {
        const [, name = '', value = ''] = /^(OTEL_\w+)=(\S+)$/.exec(line) ?? assert.fail(line);
        return [name, value] as const;
      }),
  );
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  const tracer = await openTracer({ env, warn });
  assert.notEqual(tracer, PASSING_ON, 'these variables switch no traces on');
  await tracer.close();
  assert.deepEqual(warnings, []);
}

function serverTiming(code: string): void {
  const [, value = ''] = /^Server-Timing: (.*)\n$/.exec(code) ?? assert.fail(code);
  assert.match(value, new RegExp(String(ANSWER_HEADERS['Server-Timing']?.schema['pattern'])));
}

const SECRET = `whsec_${Buffer.from('the secret of the folder').toString('base64')}`;
const require = createRequire(import.meta.url);
const FILES = [{ name: 'orders.csv' }];
type Running = (...inputs: unknown[]) => Promise<unknown>;
const AsyncFunction = (async () => undefined).constructor as new (...parts: string[]) => Running;

/** A receiver's code: it accepts an event of ours, and neither a changed nor an old one. */
async function takesGenuineAlone(
  receive: (event: Record<'id' | 'time' | 'signature' | 'body', string>) => Promise<unknown>,
): Promise<void> {
  const body = JSON.stringify({ data: { files: FILES } });
  const at = (seconds: number): Parameters<typeof receive>[0] => {
    const time = String(Math.floor(Date.now() / 1000) + seconds);
    return { id: 'msg_1', time, signature: signatures([SECRET], 'msg_1', Number(time), body), body };
  };
  assert.deepEqual(await receive(at(0)), FILES);
  await assert.rejects(receive({ ...at(0), body: body.replace('orders', 'others') }), /signature/);
  await assert.rejects(receive(at(-3_600)), /old/);
}

async function n8n(code: string): Promise<void> {
  const run = new AsyncFunction('$input', '$env', 'require', code);
  await takesGenuineAlone(async ({ id, time, signature, body }) => {
    const headers = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature };
    const node = { helpers: { getBinaryDataBuffer: async () => Buffer.from(body) } };
    const items = await run.call(
      node,
      { first: () => ({ json: { headers } }) },
      { FTG_WEBHOOK_SECRET: SECRET },
      require,
    );
    return (items as readonly { readonly json: unknown }[]).map(({ json }) => json);
  });
}

/**
 * A client's list of servers: each one starts `ftg mcp` with the variables for a gateway, or calls an address of `ftg
 * mcp --http`.
 */
function mcp(code: string): void {
  type Entry = Readonly<Record<'command' | 'url' | 'type', string | undefined>> & {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
  };
  const { mcpServers, servers = mcpServers } = JSON.parse(code) as Record<string, Record<string, Entry> | undefined>;
  const entries = Object.values(servers ?? {});
  assert.equal(entries.length, 1, code);
  for (const { command, args, env, url, headers } of entries) {
    if (url === undefined) {
      assert.deepEqual([command, args, Object.keys(env ?? {})], ['ftg', ['mcp'], ['FTG_URL', 'FTG_KEY']]);
    } else {
      assert.equal(url, 'http://127.0.0.1:8090/mcp');
      assert.match(headers?.['Authorization'] ?? '', /^Bearer ftg_/);
    }
  }
}

async function zapier(code: string): Promise<void> {
  const run = new AsyncFunction('inputData', 'require', `let output; ${code}; return output;`);
  await takesGenuineAlone((event) => run({ ...event, secret: SECRET }, require));
}

/** The block is what the gateway makes of the same event. */
function cloudEvent(code: string): void {
  const event = JSON.parse(code) as Record<string, string>;
  const { id, type, time: timestamp, sequence, previousid: previousId, source = '', data } = event;
  const body = JSON.stringify({ sequence: Number(sequence), id, previousId, type, timestamp, data });
  assert.deepEqual(event, JSON.parse(inFormat('cloudevents', body, source.replace('urn:uuid:', '')).body));
}

/** The block is an answer of this shape: it has every required field and no unknown one. "…" is any text. */
function schema(name: string, api: typeof fileApi | typeof managementApi): Check {
  return (code) => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema(withoutForms(closed(api().document)) as object, 'openapi');
    const validate = ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
    assert.ok(validate(JSON.parse(code)), ajv.errorsText(validate.errors));
  };
}

/** A copy in which a text may be any text, except listed ones (`enum`, `const`). */
function withoutForms(schemas: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schemas, (key, value: unknown) =>
      ['format', 'pattern', 'minLength'].includes(key) && typeof value !== 'object' ? undefined : value,
    ),
  );
}
