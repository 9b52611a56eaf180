/** The filters of lists: `ftg` has an option for each that the API takes, and sends it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.js';
import { fileApi, managementApi } from '../api/openapi/route-table.js';
import { Terminal } from './support.js';

const LISTS: readonly (readonly [command: readonly string[], path: string])[] = [
  [['transfers', 'list'], '/api/transfers'],
  [['transfers', 'export'], '/manage/transfers/export'],
  [['jobs', 'list'], '/api/jobs'],
  [['jobs', 'files'], '/api/jobs/{id}/files'],
  [['watch', 'deliveries'], '/manage/deliveries'],
  [['accounts', 'audit'], '/manage/audit'],
  [['receipts'], '/api/receipts'],
  [['events'], '/api/events'],
];

/** How the client reads a list, and not what is in it. */
const READING: readonly string[] = ['cursor', 'limit', 'wait', 'offset', 'format'];

const EMPTY = JSON.stringify({
  transfers: [],
  jobs: [],
  files: [],
  deliveries: [],
  entries: [],
  events: [],
  nextCursor: null,
  nextAfter: 5,
  last: 5,
});

let server: http.Server;
let terminal: Terminal;
let program: Command;
let asked: URLSearchParams | undefined;

before(async () => {
  const { signal } = new AbortController();
  program = await createProgram({ words: [], signal, version: '0', handOver: () => undefined });
  server = http.createServer(({ url = '' }, response) => {
    asked = new URL(url, 'http://gateway').searchParams;
    const isChain = url.startsWith('/api/receipts');
    response.setHeader('Content-Type', isChain ? 'application/x-ndjson' : 'application/json');
    response.end(isChain ? '' : EMPTY);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  terminal = new Terminal({ FTG_URL: `http://127.0.0.1:${port}`, FTG_KEY: 'ftg_filters-key-0123456789-abcdefgh' });
});

after(() => {
  terminal.close();
  server.closeAllConnections();
  server.close();
});

interface Parameter {
  readonly name: string;
  readonly in: string;
}

const PATHS = { ...fileApi().document.paths, ...managementApi().document.paths } as object as Readonly<
  Record<string, { readonly get: { readonly parameters: readonly Parameter[] } }>
>;

for (const [words, path] of LISTS) {
  test(`ftg ${words.join(' ')} sends each filter of GET ${path}`, async () => {
    const command = words.reduce((group, word) => group.commands.find((one) => one.name() === word) ?? group, program);
    const given = command.options
      .filter(({ required }) => required)
      .flatMap(({ long, argChoices, flags }) => [
        long ?? '',
        argChoices?.[0] ?? (/<(number|size|sequence)>/.test(flags) ? '5' : 'some'),
      ]);
    asked = undefined;
    await terminal.ok([
      ...words,
      ...command.registeredArguments.flatMap(({ required }) => (required ? ['x'] : [])),
      ...given,
    ]);
    const sent = [...(asked ?? new URLSearchParams()).keys()];
    const filters = (PATHS[path]?.get.parameters ?? [])
      .filter((one) => one.in === 'query' && !READING.includes(one.name))
      .map(({ name }) => name);
    assert.ok(filters.length > 0, path);
    assert.deepEqual(
      filters.filter((name) => !sent.includes(name)),
      [],
    );
  });
}

test('a type that no transfer has is refused before anything is sent', async () => {
  asked = undefined;
  await terminal.fails(2, /Allowed choices are upload, download/, ['transfers', 'export', '--type', 'uplaod']);
  await terminal.fails(2, /Allowed choices are upload, download/, ['tail', 'transfers', '--type', 'uplaod']);
  assert.equal(asked, undefined);
});
