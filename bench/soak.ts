/**
 * Soak: mixed load at a steady rate on its own servers, with a check of the gateway's sessions, descriptors, memory,
 * timers and history every few seconds. Exits with 0 if all are flat and nothing failed, otherwise with 1.
 *
 *   npm run soak -- --minutes 15 [--rate 20] [--json FILE] [--picture FILE.svg]
 */
import { randomBytes, createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { residentMiB } from './lab/process-meter.js';
import { startSoakTarget, type SoakTarget } from './lab/soak-target.js';
import { againstWarm, drawCourse, WARM_MINUTE } from './report/course.js';
import { isFlat, type Course } from './report/flatness.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const SIZES = [KIB, 64 * KIB, 512 * KIB, 6 * MIB] as const;
/** Names in use: each is written again and again, so that the servers' disks stay small. */
const FILES = 40;
const LOOKS = 60;
const PROTOCOLS = ['sftp', 'ftp', 's3'] as const;
/** The limit of concurrent work: on a machine that cannot keep the rate, requests must not accumulate. */
const MOST_AT_ONCE = 64;
/** Idle sessions are closed within this time, even those that removed the remains of a client. */
const REST_WITHIN_MS = 30_000;
const REST_LOOK_MS = 500;
/** A shorter run only has the load's first wave: it is judged by what it leaves. */
const SHORTEST_COURSE_MINUTES = 1;

export interface Sample {
  readonly atSeconds: number;
  readonly sessions: number;
  readonly leases: number;
  readonly waiting: number;
  readonly descriptors: number;
  readonly memoryMiB: number;
  readonly heapMiB: number;
  readonly timers: number;
  readonly handles: number;
  readonly queuedRows: number;
}

export interface SoakReport {
  readonly minutes: number;
  readonly requests: number;
  readonly failures: readonly string[];
  readonly samples: readonly Sample[];
  readonly atRestBefore: Sample;
  readonly atRestAfter: Sample;
  readonly verdicts: Readonly<Record<string, Course>>;
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '15' },
    rate: { type: 'string', default: '20' },
    json: { type: 'string', default: '' },
    picture: { type: 'string', default: '' },
  },
});
const minutes = Number(values.minutes);
const perSecond = Number(values.rate);
if (!(minutes > 0) || !(perSecond > 0)) {
  process.stderr.write('--minutes and --rate take numbers above 0\n');
  process.exit(64);
}

const folder = mkdtempSync(join(tmpdir(), 'ftg-soak-'));
chmodSync(folder, 0o755);
const target = await startSoakTarget(folder);
try {
  const report = await soak(target);
  if (values.json !== '') writeFileSync(values.json, JSON.stringify(report, undefined, 2));
  if (values.picture !== '') {
    const title = `Memory over ${minutes} min of mixed load, ${perSecond} pieces of work a second`;
    writeFileSync(values.picture, drawCourse(title, report.samples));
  }
  process.stdout.write(`${inWords(report)}\n`);
  const isGood = report.failures.length === 0 && Object.values(report.verdicts).every(({ flat }) => flat);
  process.exitCode = isGood ? 0 : 1;
} finally {
  await target.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function soak(gateway: SoakTarget): Promise<SoakReport> {
  const failures: string[] = [];
  let requests = 0;
  const one = async (number: number): Promise<void> => {
    try {
      await work(gateway, number);
      requests++;
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  };
  // Every kind of work once and with all names, so that caches, pools and code are warm before the first check.
  for (const protocol of PROTOCOLS) await gateway.upload(protocol, '/base.bin', randomBytes(2 * MIB));
  for (let number = 0; number < FILES * 2; number += 8) {
    await Promise.all(Array.from({ length: 8 }, (_, offset) => one(number + offset)));
  }
  await rest(gateway);
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1_000;
  const atRestBefore = await look(gateway, 0);

  const samples: Sample[] = [];
  const running = new Set<Promise<void>>();
  const everySeconds = Math.max(0.5, (minutes * 60) / LOOKS);
  for (let number = 0, nextLook = everySeconds; seconds() < minutes * 60; number++) {
    if (seconds() >= nextLook) {
      samples.push(await look(gateway, seconds()));
      nextLook += everySeconds;
    }
    await delay(Math.max(0, (number / perSecond - seconds()) * 1_000));
    while (running.size >= MOST_AT_ONCE) await Promise.race(running);
    const under: Promise<void> = one(number).finally(() => running.delete(under));
    running.add(under);
  }
  await Promise.all(running);
  await rest(gateway);
  const atRestAfter = await look(gateway, seconds());
  return {
    minutes,
    requests,
    failures,
    samples,
    atRestBefore,
    atRestAfter,
    verdicts: judge(samples, atRestBefore, atRestAfter),
  };
}

/** Waits until nothing is left to do: the verdict is about what is left after that time. */
async function rest(gateway: SoakTarget): Promise<void> {
  gateway.closeIdle();
  for (const until = performance.now() + REST_WITHIN_MS; performance.now() < until;) {
    await delay(REST_LOOK_MS);
    const { sessions, leases, waiting } = await look(gateway, 0);
    if (sessions + leases + waiting === 0) return;
  }
}

/**
 * One piece of the mix: uploads with a download that must be equal, copies, listings, small calls, a client that
 * leaves.
 */
async function work(gateway: SoakTarget, number: number): Promise<void> {
  const protocol = PROTOCOLS[number % PROTOCOLS.length] ?? 'sftp';
  const file = `/soak/${protocol}-${number % FILES}.bin`;
  const kind = Math.floor(number / PROTOCOLS.length) % 8;
  if (kind <= 2) {
    const content = randomBytes(SIZES[Math.floor(number / FILES) % SIZES.length] ?? KIB);
    // A separate name: no other request may change it between the two.
    const own = `/soak/${protocol}-own-${number % (2 * MOST_AT_ONCE)}.bin`;
    await gateway.upload(protocol, own, content);
    const back = await gateway.download(protocol, own);
    if (digest(back) !== digest(content)) throw new Error(`${protocol}${own} came back as another file`);
  } else if (kind === 3) {
    await gateway.upload(protocol, file, randomBytes(SIZES[1]));
  } else if (kind === 4) {
    const to = PROTOCOLS[(number + 1) % PROTOCOLS.length] ?? 'ftp';
    await gateway.copy(protocol, '/base.bin', to, `/soak/copy-${number % FILES}.bin`);
  } else if (kind === 5) {
    await gateway.list(protocol, '/soak');
  } else if (kind === 6) {
    await gateway.history();
  } else {
    await gateway.leaveHalfWay(protocol, `/soak/left-${number % FILES}.bin`);
  }
}

async function look(gateway: SoakTarget, atSeconds: number): Promise<Sample> {
  const metrics = await gateway.metrics();
  return {
    atSeconds: Math.round(atSeconds),
    sessions: metrics('ftg_pool_sessions_open'),
    leases: metrics('ftg_pool_leases'),
    waiting: metrics('ftg_pool_waiting'),
    descriptors: readdirSync(`/proc/${gateway.pid}/fd`).length,
    memoryMiB: Math.round(residentMiB(gateway.pid)),
    heapMiB: Math.round(metrics('nodejs_heap_size_used_bytes') / MIB),
    timers: metrics('nodejs_active_resources', 'type="Timeout"'),
    handles: metrics('nodejs_active_resources_total'),
    queuedRows: metrics('ftg_history_queued_rows'),
  };
}

/**
 * Under load: the last third compared with the middle one. At rest: nothing more than before, except for idle sessions.
 */
function judge(samples: readonly Sample[], before: Sample, after: Sample): Record<string, Course> {
  const course = (field: keyof Sample, slack: { readonly ratio: number; readonly floor: number }): Course =>
    isFlat(
      samples.map((sample) => sample[field]),
      slack,
    );
  const rest = (field: keyof Sample, slack: number): Course => ({
    flat: after[field] <= before[field] + slack,
    from: before[field],
    to: after[field],
  });
  const underLoad = {
    // The load's own waves: up to 8 sessions on each of the servers, and the clients' sockets.
    sessions: course('sessions', { ratio: 1.25, floor: 16 }),
    descriptors: course('descriptors', { ratio: 1.25, floor: 48 }),
    'memory (MiB)': course('memoryMiB', { ratio: 1.15, floor: 48 }),
    'heap (MiB)': course('heapMiB', { ratio: 1.3, floor: 32 }),
    timers: course('timers', { ratio: 1.3, floor: 30 }),
  };
  const warm = againstWarm(samples);
  return {
    ...(minutes < SHORTEST_COURSE_MINUTES ? {} : underLoad),
    ...(warm === undefined ? {} : { [`memory (MiB) since minute ${WARM_MINUTE}`]: warm }),
    'sessions at rest': rest('sessions', 0),
    'leases at rest': rest('leases', 0),
    'waiting at rest': rest('waiting', 0),
    'descriptors at rest': rest('descriptors', 4),
    'timers at rest': rest('timers', 4),
    'handles at rest': rest('handles', 8),
    'queued history rows at rest': rest('queuedRows', 0),
  };
}

function inWords({ requests, failures, verdicts }: SoakReport): string {
  const lines = Object.entries(verdicts).map(
    ([what, { flat, from, to }]) => `${flat ? 'flat  ' : 'GROWS '} ${what.padEnd(28)} ${from} -> ${to}`,
  );
  const failed =
    failures.length === 0 ? 'none failed' : `${failures.length} FAILED: ${failures.slice(0, 5).join('; ')}`;
  return [`${minutes} min, ${requests} pieces of work, ${failed}`, ...lines].join('\n');
}

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
