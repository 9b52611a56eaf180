/** The seams that hold by types alone: who changes files of servers, and who makes events. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modulesIn } from './support/modules.js';
import { declarationsIn, nameOf, serverProgram, usersOf } from './support/uses.js';

const program = serverProgram();

/** What a Remote can be asked without a change of a file. All other members change one. */
const READS: ReadonlySet<string> = new Set([
  ...['can', 'facts', 'proof', 'probe', 'home', 'stat', 'rightsOf', 'list', 'listTree', 'read'].map(
    (name) => `Remote.${name}`,
  ),
  ...['canBeRead', 'measure'].map((name) => `Pieces.${name}`),
]);

/** What changes files outside of operations and uploads, which are operations in pieces. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  // The source of a moved file, on a session of its operation.
  'jobs/file-work.ts': ['Remote.remove'],
  // Folders of a job have no item in the history.
  'jobs/listings.ts': ['Remote.makeFolder'],
  'jobs/removals.ts': ['Remote.removeFolder'],
  // Files that a test of a connection makes for itself.
  'api/connections/connection-test.ts': [
    'Remote.append',
    'Remote.copyFrom',
    'Remote.exec',
    'Remote.move',
    'Remote.remove',
    'Remote.write',
  ],
  'api/connections/rights-probe.ts': ['Remote.makeFolder', 'Remote.removeFolder'],
};

test('files of servers are changed by operations and uploads alone', () => {
  const members = declarationsIn(program, 'remotes/remote.ts').filter((one) => /^(Remote|Pieces)\./.test(nameOf(one)));
  const names = members.map(nameOf);
  assert.deepEqual(
    [...READS].filter((name) => !names.includes(name)),
    [],
  );
  const users = usersOf(
    program,
    members.filter((one) => !READS.has(nameOf(one))),
  );
  assert.ok(Object.keys(users).length > 15, 'the changing methods were not found');
  const others = new Map<string, string[]>();
  for (const [name, files] of Object.entries(users)) {
    assert.ok(files.length > 0, `${name} is used by nothing: the search is blind`);
    for (const file of files.filter((one) => !/^(remotes|operations|uploads)\//.test(one)))
      others.set(file, [...(others.get(file) ?? []), name].sort());
  }
  assert.deepEqual(Object.fromEntries([...others].sort()), Object.fromEntries(Object.entries(CHANGES).sort()));
});

const TABLES = 'storage/tables';

/** All ways to an event, and who goes them. */
const MAKERS: Readonly<Record<string, readonly string[]>> = {
  'Outbox.add': [
    ...['alarms', 'connection-checks', 'connection-outages', 'history-statements', 'jobs', 'watched-folders'].map(
      (name) => `${TABLES}/${name}.ts`,
    ),
    'watch/service.ts',
  ],
  'Outbox.announce': [`${TABLES}/history-writer.ts`, `${TABLES}/watched-folders.ts`],
  // Through Completion.
  'Outbox.complete': [],
  insertDrafts: [`${TABLES}/outbox.ts`],
  inserting: [`${TABLES}/transfer-events.ts`],
  insertOwnDelivery: [`${TABLES}/outbox.ts`],
  insertCopies: [`${TABLES}/outbox.ts`],
  dropUnready: [`${TABLES}/outbox.ts`, `${TABLES}/webhook-events.ts`],
  addressing: [`${TABLES}/event-numbers.ts`],
  transferEvents: [`${TABLES}/history-statements.ts`],
  eventBody: [
    'alarms/events.ts',
    'connections/health/health.ts',
    'connections/health/prober.ts',
    'events/subscriptions.ts',
    'jobs/view.ts',
    `${TABLES}/transfer-events.ts`,
    'watch/event-bodies.ts',
  ],
};

test('events are made by those who may, each in one of the known ways', () => {
  const files = ['outbox', 'event-feeds', 'webhook-events', 'route-copies', 'transfer-events'];
  const declared = [...files.map((name) => `${TABLES}/${name}.ts`), 'contract/event.ts'].flatMap((file) =>
    declarationsIn(program, file),
  );
  const wanted = declared.filter((one) => nameOf(one) in MAKERS);
  assert.deepEqual(wanted.map(nameOf).sort(), Object.keys(MAKERS).sort());
  assert.deepEqual(usersOf(program, wanted), MAKERS);
});

/** What declares the ways, and the check of a folder, which hands its events to its table. */
const KNOW_EVENTS = [`${TABLES}/event-feeds.ts`, 'watch/check.ts'];

test('an interface of its own hides no way to the outbox: only these know the events that it takes', () => {
  const knows = modulesIn('src').filter(({ imports }) =>
    imports.some(({ names }) => names.includes('DraftEvent') || names.includes('NewEvent')),
  );
  const outside = knows.map(({ file }) => file).filter((file) => !Object.values(MAKERS).flat().includes(file));
  assert.deepEqual(outside.sort(), KNOW_EVENTS);
});
