/** docs/architecture.md agrees with the code: the names, figures and statuses that it gives. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { ERRORS, type ErrorCode } from '../../src/contract/errors.js';
import { GatewayError } from '../../src/base/errors.js';
import { modulesIn } from '../support/modules.js';
import { ROOT } from './snippets.js';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const PAGE = read('docs/architecture.md');
const words = [...PAGE.matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word);
const modules = modulesIn('src');

/** What paths of the page are relative to: the project, its sources, those of storage, and those of each protocol. */
const BASES = ['', 'src', 'src/storage', 'src/remotes', 'src/remotes/sftp', 'src/remotes/ftp', 'src/remotes/s3'];

test('the files and folders that it names exist', () => {
  const paths = words.filter((word) => /^[\w-]+(\/[\w.-]+)*(\/|\.ts)$/.test(word) && word !== 'replies.ts');
  assert.ok(paths.length > 60, 'the paths were not found');
  const missing = paths.filter((one) => !BASES.some((base) => existsSync(path.join(ROOT, base, one))));
  assert.deepEqual(missing, []);
});

test('the members and functions that it names exist', () => {
  const members = new Set<string>();
  for (const node of modules.flatMap(({ source }) => [...source.statements])) {
    if (ts.isFunctionDeclaration(node)) members.add(node.name?.text ?? '');
    if (!ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node)) continue;
    for (const member of node.members) {
      const name = member.name?.getText() ?? '';
      members.add(`${node.name?.text ?? ''}.${name}`).add(name);
    }
  }
  const named = words.filter((word) => /^[A-Z][a-zA-Z]*\.[a-z]\w*$|^[a-z]+[A-Z]\w*$/.test(word));
  assert.ok(named.length > 10, 'the names were not found');
  assert.deepEqual(
    named.filter((word) => !members.has(word)),
    ['maxSessions'],
  );
});

/** What the page says, and the definition of its figure. */
const FIGURES: readonly (readonly [said: string, file: string, defined: string])[] = [
  ['three times at most', 'remotes/registry.ts', 'MOST_TRIES = 3;'],
  ['4 MiB in one turn', 'base/turn-share.ts', 'TURN_BYTES = 4 * 1024 * 1024;'],
  ['up to 64 KiB', 'remotes/remote.ts', 'WHOLE_BYTES = 64 * 1024;'],
  ['renewed every second', 'uploads/leases.ts', 'RENEW_EVERY_MS = 1_000;'],
  ['After 9 s without renewal', 'uploads/leases.ts', 'FENCE_MS = 9_000;'],
  ['After 12 s it expires', 'storage/tables/uploads.ts', 'LEASE_SECONDS = 12;'],
  [
    'two when more than 500 rows wait',
    'storage/tables/history-writer.ts',
    'SECOND_FLIGHT_ABOVE = 500;\nconst MAX_FLIGHTS = 2;',
  ],
  ['a turn of at most 30 s', 'jobs/event-stage.ts', 'TURN_MS = 30_000;'],
  ['a due time 15 s ahead', 'storage/tables/connection-checks.ts', 'CLAIM_SECONDS = 15;'],
  ['keeps 32 at once', 'connections/health/prober.ts', 'AT_ONCE = 32;'],
  ['2 of one account’s host', 'connections/health/prober.ts', 'OF_ONE_HOST = 2;'],
];

test('its figures are those of the code', () => {
  for (const [said, file, defined] of FIGURES) {
    assert.ok(PAGE.replaceAll("'", '’').includes(said), `it does not say "${said}"`);
    assert.ok(read(`src/${file}`).includes(`const ${defined}`), `${file} does not define ${defined}`);
  }
});

/** The rows of "When something breaks" that name statuses, and the errors that clients get then. */
const BREAKS: readonly (readonly [what: string, codes: readonly ErrorCode[]])[] = [
  ['the remote is cut or silent', ['connection_lost', 'stall_timeout', 'command_timeout', 'connect_timeout']],
  ['size or digest differ', ['size_mismatch', 'digest_mismatch']],
  ['the history cannot be written', ['outcome_unrecorded']],
];

test('what clients get when something breaks has the statuses that it says', () => {
  const rows = new Map(
    [...PAGE.matchAll(/^\| ([^|`]+) \| (.*) \|$/gm)].map(([, what = '', then = '']) => [what, then] as const),
  );
  for (const [what, codes] of BREAKS) {
    const said = [...(rows.get(what) ?? assert.fail(`no row ${what}`)).matchAll(/\b[45]\d\d\b/g)].map(([status]) =>
      Number(status),
    );
    assert.deepEqual([...new Set(said)].sort(), [...new Set(codes.map((code) => ERRORS[code].status))].sort(), what);
  }
  // The session is closed.
  for (const code of BREAKS[0]?.[1] ?? []) assert.ok(!new GatewayError(code, 'lost').keepsSession, code);
});

test('each protocol has one place for the replies of its server', () => {
  for (const protocol of ['sftp', 'ftp', 's3']) {
    const places = modules.filter(({ file }) => new RegExp(`^remotes/${protocol}/.*/replies\\.ts$`).test(file));
    assert.equal(places.length, 1, protocol);
  }
});
