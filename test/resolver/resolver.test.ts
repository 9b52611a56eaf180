/**
 * Look-ups on a name server with the behaviour of real ones, and worse. A failure is B waiting for A's names.
 */
import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { mkdtempSync, readdirSync, readlinkSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { Budget } from '../../src/budgets/budget.js';
import { hasCode } from '../../src/base/errors.js';
import { createDialer } from '../../src/remotes/dial/dial.js';
import { createResolver, type Lookup } from '../../src/resolver/resolver.js';
import { candidatesFor, parseHosts, parseSearchRules } from '../../src/resolver/system-files.js';
import { withCode } from '../support/errors.js';
import { startNameServer, type NameServer, type Zone } from './support/name-server.js';
import { eventually } from '../support/eventually.js';

type ResolverOptions = Parameters<typeof createResolver>[0];

const NEVER = new AbortController().signal;
// Fifty and more wait for it at once.
setMaxListeners(0, NEVER);

interface Rig {
  readonly server: NameServer;
  readonly budget: Budget;
  readonly lookup: Lookup;
  /** The addresses of a name, requested by `owner`. */
  readonly of: (name: string, owner?: string) => Promise<string[]>;
  readonly write: (file: 'hosts' | 'resolv.conf', text: string) => void;
}

async function rig(t: TestContext, zone: Zone, lookups = 64, more: ResolverOptions = {}): Promise<Rig> {
  const server = await startNameServer(zone);
  const folder = mkdtempSync(join(tmpdir(), 'ftg-names-'));
  t.after(() => {
    server.stop();
    rmSync(folder, { recursive: true });
  });
  const budget = new Budget({ name: 'lookups', unit: 'name look-ups', capacity: lookups });
  const files = { hosts: join(folder, 'hosts'), resolvConf: join(folder, 'resolv.conf') };
  const lookup = createResolver({ nameServers: [server.address], budget, files, ...more });
  let edits = 0;
  return {
    server,
    budget,
    lookup,
    of: async (name, owner = 'b') => (await lookup(name, { owner, signal: NEVER })).map(({ address }) => address),
    write: (file, text) => {
      writeFileSync(join(folder, file), text);
      // Two edits within the resolution of the file system's clock must still differ.
      utimesSync(join(folder, file), new Date(), new Date(Date.now() + ++edits * 1_000));
    },
  };
}

const coded =
  (code: string) =>
  (error: unknown): boolean =>
    (error as NodeJS.ErrnoException).code === code;

suite('answers', () => {
  test('of both families, each address once, a chain of aliases followed', async (t) => {
    const { of } = await rig(t, () => ({
      aliases: ['cdn.example', 'edge.example'],
      addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
    }));
    assert.deepEqual((await of('www.example')).sort(), ['192.0.2.1', '192.0.2.2', '2001:db8::1']);
  });

  test('one family is enough, and the other is not waited for', async (t) => {
    const { of } = await rig(t, (name, family) =>
      family === 4 && name.startsWith('v4') ? { addresses: ['192.0.2.1'] } : undefined,
    );
    let isWaitedFor = true;
    const silent = assert.rejects(of('none.example')).finally(() => (isWaitedFor = false));
    assert.deepEqual(await of('v4.example'), ['192.0.2.1']);
    assert.ok(isWaitedFor, 'it was given up as late as a name without any answer');
    await silent;
  });

  test('too long for a datagram: requested again over TCP', async (t) => {
    const addresses = Array.from({ length: 100 }, (_, index) => `192.0.2.${index + 1}`);
    const { of } = await rig(t, () => ({ addresses, isTruncated: true }));
    const found = await of('many.example');
    // A hundred addresses are never tried.
    assert.ok(found.length === 8 && found.every((address) => addresses.includes(address)), String(found));
  });

  test('forged by others: ignored', async (t) => {
    const { of } = await rig(t, (_, family) => ({
      addresses: ['192.0.2.1'],
      before: (question, make) => {
        const forged = make({ addresses: family === 4 ? ['10.6.6.6'] : ['fd00::666'] });
        forged.writeUInt16BE((question.readUInt16BE(0) + 1) % 65_536, 0);
        const other = make({ addresses: ['10.6.6.7'] });
        other.write('evil', 13, 'latin1');
        return [forged, other];
      },
    }));
    assert.deepEqual(await of('true.example'), ['192.0.2.1']);
  });

  test('no such name, a failing server, a refusing one, one that talks nonsense', async (t) => {
    const { of, server } = await rig(t, () => ({ code: 3 }));
    await assert.rejects(of('none.example'), coded('ENOTFOUND'));
    server.zone = () => ({ addresses: [] });
    await assert.rejects(of('empty.example'), coded('ENOTFOUND'));
    server.zone = () => ({ code: 2 });
    await assert.rejects(of('failing.example'), coded('EAI_FAIL'));
    server.zone = () => ({ code: 5 });
    await assert.rejects(of('refused.example'), coded('EAI_FAIL'));
    server.zone = () => ({ before: () => [Buffer.from('nonsense')] });
    await assert.rejects(of('nonsense.example'), coded('EAI_FAIL'));
  });

  test('a silent server: the look-up has its own time limit', async (t) => {
    const { of, budget } = await rig(t, () => undefined);
    await assert.rejects(of('silent.example'), coded('EAI_AGAIN'));
    assert.equal(budget.gauge.used, 0);
  });

  test('names that no server is asked about', async (t) => {
    const { of, server } = await rig(t, () => ({ addresses: ['192.0.2.1'] }));
    assert.deepEqual(await of('localhost'), ['127.0.0.1', '::1']);
    assert.deepEqual(await of('files.LocalHost.'), ['127.0.0.1', '::1']);
    assert.deepEqual(await of('0x7f.1'), ['127.0.0.1']);
    for (const name of ['', '1.2.3.4.5', 'a.0x10', '127.0.0.1.', 'nowhere.invalid', `${'a.'.repeat(130)}example`]) {
      await assert.rejects(of(name), coded('ENOTFOUND'), name);
    }
    assert.deepEqual(server.asked, []);
  });
});

suite('the files of the system', () => {
  test('the hosts file comes first, and is read again when it changes', async (t) => {
    const { of, write, server } = await rig(t, () => ({ addresses: ['192.0.2.1'] }));
    write('hosts', '10.0.0.7 Warehouse warehouse.lan # the old one\n::7\twarehouse.lan\nnonsense here\n');
    assert.deepEqual(await of('warehouse.LAN'), ['10.0.0.7', '::7']);
    assert.deepEqual(await of('warehouse'), ['10.0.0.7']);
    assert.deepEqual(server.asked, []);
    write('hosts', '10.0.0.8 warehouse.lan\n');
    await eventually(async () => (await of('warehouse.lan'))[0] === '10.0.0.8', 'the change is seen');
    assert.deepEqual(await of('warehouse'), ['192.0.2.1']);
  });

  test('short names are completed as in a cluster', async (t) => {
    const full = 'sftp.prod.svc.cluster.local';
    const { of, write, server } = await rig(t, (name) => (name === full ? { addresses: ['10.1.2.3'] } : { code: 3 }));
    write('resolv.conf', 'nameserver 192.0.2.53\nsearch team.svc.cluster.local svc.cluster.local\noptions ndots:5\n');
    assert.deepEqual(await of('sftp.prod'), ['10.1.2.3']);
    assert.deepEqual([...new Set(server.asked)], ['sftp.prod.team.svc.cluster.local', full]);
    await assert.rejects(of('sftp.prod.'), coded('ENOTFOUND'), 'a dot at the end: as it is');
  });

  test('their meaning', () => {
    assert.deepEqual(parseSearchRules(''), { search: [], ndots: 1 });
    assert.deepEqual(
      parseSearchRules('domain a.example\nsearch b.example. . c.example ; both\noptions rotate ndots:99'),
      {
        search: ['b.example', 'c.example'],
        ndots: 15,
      },
    );
    const rules = { search: ['x', 'y'], ndots: 2 };
    assert.deepEqual(candidatesFor('a.b', rules), ['a.b.x', 'a.b.y', 'a.b']);
    assert.deepEqual(candidatesFor('a.b.c', rules), ['a.b.c', 'a.b.c.x', 'a.b.c.y']);
    assert.deepEqual(candidatesFor('a.', rules), ['a']);
    assert.deepEqual(
      [...parseHosts('#127.0.0.1 x\r\n127.0.0.1\ta  b\r\n127.0.0.1 a\n')],
      [
        ['a', ['127.0.0.1']],
        ['b', ['127.0.0.1']],
      ],
    );
  });
});

suite('the cache', () => {
  test('an answer is kept as long as it says, a missing name for a moment', async (t) => {
    let now = 1_000;
    t.mock.method(performance, 'now', () => now);
    const { of, server } = await rig(t, (name) =>
      name === 'gone.example' ? { code: 3 } : { addresses: ['192.0.2.1'], ttl: 30 },
    );
    const asked = async (name: string): Promise<number> => {
      const before = server.asked.length;
      await of(name).catch(() => undefined);
      return server.asked.length - before;
    };
    assert.equal(await asked('kept.example'), 2);
    now += 29_000;
    assert.equal(await asked('KEPT.example'), 0);
    now += 2_000;
    assert.equal(await asked('kept.example'), 2);
    assert.equal(await asked('gone.example'), 2);
    now += 4_000;
    assert.equal(await asked('gone.example'), 0);
    now += 2_000;
    assert.equal(await asked('gone.example'), 2);
  });

  test('one query for many concurrent callers; it continues while one of them waits', async (t) => {
    const { lookup, server, budget } = await rig(t, () => ({ addresses: ['192.0.2.1'], delayMs: 200 }));
    const leaving = new AbortController();
    const asking = Array.from({ length: 50 }, (_, index) =>
      lookup('one.example', { owner: `o${index}`, signal: index === 0 ? leaving.signal : NEVER }),
    );
    await eventually(() => server.asked.length === 2, 'the question is asked');
    assert.equal(budget.gauge.used, 1);
    const reason = new Error('left');
    leaving.abort(reason);
    const [first, ...others] = await Promise.allSettled(asking);
    assert.equal(first?.status === 'rejected' && first.reason, reason);
    assert.ok(others.every(({ status }) => status === 'fulfilled'));
    assert.equal(server.asked.length, 2);
    assert.equal(budget.gauge.used, 0);
  });

  test('a thousand names need neither many sockets nor places', async (t) => {
    const { of, budget } = await rig(t, () => ({ addresses: ['192.0.2.1'] }));
    const sockets = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
        } catch {
          return false;
        }
      }).length;
    const before = sockets();
    for (let name = 0; name < 1_000; name++) await of(`n${name}.example`);
    assert.ok(sockets() - before < 20, `${sockets() - before} sockets stay open`);
    assert.equal(budget.gauge.used, 0);
  });
});

suite('fair shares', () => {
  const silentForA: Zone = (name) => (name.startsWith('silent') ? undefined : { addresses: ['192.0.2.1'] });

  test('an owner that asks for silent names delays no other', async (t) => {
    const { of, lookup, budget } = await rig(t, silentForA, 10);
    const attack = new AbortController();
    const silent = Array.from({ length: 100 }, (_, index) =>
      lookup(`silent${index}.example`, { owner: 'a', signal: attack.signal }),
    );
    let ended = 0;
    for (const one of silent) one.catch(() => undefined).finally(() => ended++);
    const ends = Promise.allSettled(silent);
    await eventually(() => budget.of('a').used === 8, 'A has its share');
    for (let name = 0; name < 20; name++) assert.deepEqual(await of(`b${name}.example`, 'b'), ['192.0.2.1']);
    assert.equal(ended, 0, 'no name of A was given up before');
    attack.abort(new Error('over'));
    await ends;
    await eventually(() => budget.gauge.used + budget.gauge.waiting === 0, 'A has given back all');
  });

  test('above its share: 429 after a short wait', async (t) => {
    const { lookup, budget } = await rig(t, silentForA, 5);
    const attack = new AbortController();
    const silent = Array.from({ length: 5 }, (_, index) =>
      lookup(`silent${index}.example`, { owner: 'a', signal: attack.signal }),
    );
    const refused = await Promise.allSettled(silent).finally(() => attack.abort(new Error('over')));
    const reasons = refused.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    assert.equal(reasons.filter((reason) => hasCode(reason, 'share_exceeded')).length, 1);
    await eventually(() => budget.gauge.used === 0, 'all is given back');
  });

  test('no caller waits in the queue of another account for the same name', async (t) => {
    const { lookup, of, budget } = await rig(t, silentForA, 5);
    const attack = new AbortController();
    const asked = { owner: 'a', signal: attack.signal };
    const silent = Array.from({ length: 4 }, (_, index) => lookup(`silent${index}.example`, asked));
    await eventually(() => budget.of('a').used === 4, 'A has its share');
    const queued = lookup('shared.example', asked);
    const ends = Promise.allSettled([...silent, queued]);
    assert.deepEqual(await of('shared.example', 'b'), ['192.0.2.1']);
    attack.abort(new Error('over'));
    await ends;
  });
});

test('a name whose address changes: the socket goes to the address that was checked', async (t) => {
  const answers = ['127.0.0.1', '169.254.169.254'];
  const { lookup, server } = await rig(t, () => ({ addresses: [answers[0] ?? ''], ttl: 0 }));
  const rules = {
    localAddress: '',
    connections: { allowPrivate: true, deny: [] },
    urlFetch: { allow: [] },
    webhooks: { allow: [] },
  };
  const dialer = createDialer(rules, () => [], lookup);
  const dial = { purpose: 'connection', owner: 'b', signal: NEVER, timeoutMs: 5_000 } as const;
  // Nothing listens: only the address of the attempt matters.
  await assert.rejects(dialer.connect('rebinding.example', 9, dial), withCode('unreachable', /connection refused/));
  answers.shift();
  assert.equal(server.asked.length, 2);
  await eventually(async () => {
    const error: unknown = await dialer.connect('rebinding.example', 9, dial).catch((thrown: unknown) => thrown);
    return hasCode(error, 'address_denied');
  }, 'the new answer is seen, and refused');
});

test("the system's resolver, if the operator asks for it", async (t) => {
  const { lookup, server } = await rig(t, () => undefined, 64, { resolver: 'system' });
  const found = await lookup('localhost', { owner: 'b', signal: NEVER });
  assert.ok(found.some(({ address }) => address === '127.0.0.1' || address === '::1'));
  assert.deepEqual(server.asked, []);
});
