/**
 * The tier of every test file. A file changes its tier here, and nowhere else.
 *
 * | tier | its files | run by |
 * |---|---|---|
 * | unit | need neither servers nor processes, and take a moment | `npm run test:unit` |
 * | main | the behaviour, on one server of each protocol | `npm test`, after unit |
 * | rest | further servers, long attacks and crashes, measurements | `npm run test:rest` |
 *
 * `npm run test:all` runs all three.
 */
import path from 'node:path';
import { reachedBy } from './runner/imports.js';

export const TIERS = ['unit', 'main', 'rest'] as const;
export type Tier = (typeof TIERS)[number];

/**
 * A file that loads one of these is not of tier unit: it starts processes, talks to what others started, or uses a tool
 * of test/tools, which that tier does without.
 */
const OUTSIDE: readonly (string | RegExp)[] = [
  ...['node:child_process', 'playwright-core', 'postgres', 'typescript'],
  ...[
    /\/test\/servers\//,
    /\/test\/support\/gateway\.js$/,
    /\/test\/http\/support\/front-end\.js$/,
    /\/src\/links\/page\.js$/,
  ],
];

/** Paths below test/, without `.test.ts`; a folder ends with a slash. */
type List = readonly string[];

/** They start nothing, but take longer than a moment, or read what only the whole build makes. */
const NOT_A_MOMENT: List = listed(`
  api/openapi/document architecture base/entry-sorter docs/built-site docs/installed-packages jobs/schedule-clock operations/tree/walk pools/places pools/pool-properties
  pools/pool-simulation remotes/fourth-protocol remotes/make-folders remotes/ranges-ahead resolver/resolver s3/kept-keys workers/base64
`);

/**
 * They compare a time or memory with a bound, or the times of two clients: files beside them would also be measured.
 * They run last, two at once, beside one of WAITS.
 */
const MEASURES: List = listed(`
  app/nodes/database-killed app/threads attacks/announced-keys attacks/bodies attacks/handshakes
  attacks/hostile-remotes attacks/hostile-servers attacks/isolation-http attacks/isolation-jobs
  attacks/isolation-listings attacks/job-events attacks/keys attacks/names attacks/own-crowd attacks/private-keys
  attacks/s3-front-loop attacks/sessions conformance/memory connections/health/probes dashboard/queue-pace
  operations/flat-memory operations/large-trees operations/long-chains operations/returned-memory uploads/memory
  uploads/purge
`);

/** They measure too, but spend their time waiting for limits of the product. */
const WAITS: List = listed(`
  app/nodes/clocks attacks/connections attacks/sockets attacks/watch-shares events/long-polls faults/readiness faults/stalls
`);

/** What `npm test` leaves to `npm run test:rest`, by the reason; MEASURES and WAITS besides. */
const REST: Readonly<Record<string, List>> = {
  'further servers of a protocol': listed(`
    conformance/copy conformance/openssh-limited conformance/openssh-others conformance/proftpd conformance/pure-ftpd
    conformance/s3-others conformance/sftp-others conformance/untrue-sizes conformance/vsftpd-others connections/field-matrix jobs/hard-targets jobs/link-loops jobs/mirrors
    remotes/ftp/seam-others remotes/ftp/servers remotes/s3/seam-others remotes/sftp/seam-others uploads/multipart-others
    uploads/servers-others
    remotes/s3/radosgw s3/tools/
  `),
  'many rounds, made by chance': listed(`attacks/fuzz attacks/numbers jobs/sync-model`),
  'kills, crashes, several nodes, and what happens long after them': listed(`
    app/bare-start app/nodes/balanced app/nodes/rolling-restart app/rest attacks/slow-clients faults/aside-after-kill faults/clients
    faults/flipped-byte faults/gateway faults/kill faults/leaving-clients faults/receipt-chain faults/repeated-after-kill http/client-limits jobs/cancel jobs/in-flight jobs/kill
    jobs/kill-changes jobs/kill-conflicts remotes/sftp/long-line storage/away storage/lost-connections storage/open storage/set-clock uploads/broken-lines
    uploads/ends s3/join-kill s3/multipart-kill watch/crash watch/routes-kill events/feed-kill
  `),
  'a load that lasts': listed(`connections/secrets/long-rotation`),
  'trees and files of a size that takes long': listed(
    `dashboard/queue jobs/large-trees operations/archive/large-entry`,
  ),
  'the product as it is installed, documented and compared': listed(`
    bench/operations bench/smoke bench/soak contract/cost deploy/ docs/backup docs/newcomer docs/recipes python/ release/
  `),
};

/** What clients meet first runs again on the other front end, node:http, in the tier rest. */
const ON_BOTH: List = listed(`
  attacks/connections attacks/fuzz attacks/numbers attacks/sockets conformance/memory faults/clients
  faults/leaving-clients http/client-limits http/connections http/downloads http/event-loop http/requests http/retire
  http/server http/uploads operations/flat-memory
`);

/** All lists, for the test that each of their entries is a file, and no file has two reasons. */
export const LISTS: Readonly<Record<string, List>> = { NOT_A_MOMENT, MEASURES, WAITS, ON_BOTH, ...REST };

/** `name` is the path of a compiled test file below `folder`, dist/test, with slashes. */
export function tierOf(name: string, folder: string): Tier {
  if (measures(name) || Object.values(REST).some((list) => isOn(list, name))) return 'rest';
  return isOn(NOT_A_MOMENT, name) || reachesOutside(path.join(folder, name)) ? 'main' : 'unit';
}

export function measures(name: string): boolean {
  return isOn(MEASURES, name) || waits(name);
}

export function waits(name: string): boolean {
  return isOn(WAITS, name);
}

export function runsOnBoth(name: string): boolean {
  return isOn(ON_BOTH, name);
}

export function isOn(list: List, name: string): boolean {
  const stem = name.replace(/\.test\.js$/, '');
  return list.some((entry) => (entry.endsWith('/') ? stem.startsWith(entry) : stem === entry));
}

function reachesOutside(file: string): boolean {
  const modules = [...reachedBy(file).keys()].map((module) => module.replaceAll('\\', '/'));
  return modules.some((module) => OUTSIDE.some((one) => (one instanceof RegExp ? one.test(module) : one === module)));
}

function listed(text: string): List {
  return text.trim().split(/\s+/);
}
