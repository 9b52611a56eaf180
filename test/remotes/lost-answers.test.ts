/**
 * A session is lost at each request of each change, before the server executes it and after. What is reported must be
 * what is there: success only for what was done, an error only for what was not, and never a file that is gone.
 */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { ServerChannel } from 'ssh2';
import { endWith } from '../../src/remotes/whole.js';
import type { Remote } from '../../src/remotes/remote.js';
import { REQUEST } from '../../src/remotes/sftp/wire/wire.js';
import { startScripted, type Script, type Visitor } from '../servers/scripted-ftp.js';
import { startOddServer, type OddRequest } from '../servers/scripted-sftp.js';
import { clientFor } from './support/ftp-client.js';
import { openRemote, path, put, sftpConnection, testDeps } from './support/harness.js';

/** A refusal concerns only renames, which are then the only requests that count. */
const REFUSED = 'although it was executed, it is refused';
type Loss = 'before it is executed' | 'after it was executed' | typeof REFUSED;
type Files = ReadonlyMap<string, string>;

const OLD = 'old content';
const NEW = 'new and longer content';

const CHANGES: readonly {
  readonly what: string;
  readonly before: Files;
  readonly after: Files;
  readonly run: (remote: Remote) => Promise<unknown>;
}[] = [
  {
    what: 'an upload of a new file',
    before: new Map(),
    after: new Map([['/f', NEW]]),
    run: (remote) => put(remote, path('/f'), NEW, NEW.length),
  },
  {
    what: 'an upload over a file',
    before: new Map([['/f', OLD]]),
    after: new Map([['/f', NEW]]),
    run: (remote) => put(remote, path('/f'), NEW, NEW.length),
  },
  {
    what: 'an append',
    before: new Map([['/f', OLD]]),
    after: new Map([['/f', OLD + NEW]]),
    run: async (remote) => {
      const writer = await remote.append?.(path('/f'));
      assert.ok(writer !== undefined);
      try {
        await endWith(writer, Buffer.from(NEW));
        await writer.commit({ size: NEW.length });
      } catch (error) {
        await writer.abort(error as Error);
        throw error;
      }
    },
  },
  {
    what: 'a move',
    before: new Map([['/f', NEW]]),
    after: new Map([['/g', NEW]]),
    run: (remote) => remote.move(path('/f'), path('/g'), { replace: false }),
  },
  {
    what: 'a move onto a file',
    before: new Map([
      ['/f', NEW],
      ['/g', OLD],
    ]),
    after: new Map([['/g', NEW]]),
    run: (remote) => remote.move(path('/f'), path('/g'), { replace: true }),
  },
  {
    what: 'a delete',
    before: new Map([['/f', OLD]]),
    after: new Map(),
    run: (remote) => remote.remove(path('/f')),
  },
];

interface Losing {
  readonly files: Map<string, Buffer>;
  /** A remote on a session of its own. */
  open(): Promise<Remote>;
  /** From now on requests are counted; the session is lost at this one (from 0), never if it is undefined. */
  arm(at: number | undefined, loss: Loss): void;
  /** Requests since then. */
  asked(): number;
  /** Whether the name is noted to be removed later. */
  readonly isNoted: (name: string) => boolean;
}

async function losingSftp(t: TestContext, loses: 'the channel' | 'the connection'): Promise<Losing> {
  let lost: { at: number | undefined; loss: Loss } = { at: undefined, loss: 'before it is executed' };
  let asked = 0;
  const clients = new Set<{ end(): void }>();
  const drop = (channel: ServerChannel): void => {
    if (loses === 'the channel') channel.destroy();
    else for (const client of clients) client.end();
  };
  const server = await startOddServer({
    onClient: (client) => clients.add(client),
    odd: ({ channel, usual, status, type }: OddRequest) => {
      if (lost.loss === REFUSED && type !== REQUEST.RENAME) return false;
      if (asked++ !== lost.at) return false;
      if (lost.loss === 'before it is executed') drop(channel);
      else if (lost.loss === 'after it was executed') {
        usual();
        // The server answers in the turn after this one.
        channel.write = () => true;
        setImmediate(() => setImmediate(() => drop(channel)));
      } else {
        const write = channel.write.bind(channel);
        channel.write = () => true;
        usual();
        setImmediate(() => {
          channel.write = write;
          status(4, 'failed all the same');
        });
      }
      return true;
    },
  });
  t.after(() => server.stop());
  const noted = new Set<string>();
  return {
    files: server.files,
    open: async () => {
      const { remote, close, leftovers } = await openRemote(sftpConnection(server, { password: 'x' }), testDeps());
      leftovers.removeLater = (name) => void noted.add(name);
      leftovers.expectAside = async (aside) => ({ done: () => undefined, settleLater: () => void noted.add(aside) });
      t.after(close);
      return remote;
    },
    arm: (at, loss) => {
      asked = 0;
      lost = { at, loss };
    },
    asked: () => asked,
    isNoted: (name) => noted.has(name),
  };
}

async function losingFtp(t: TestContext): Promise<Losing> {
  let lost: { at: number | undefined; loss: Loss } = { at: undefined, loss: 'before it is executed' };
  let asked = 0;
  const executed = async ({ socket, usual, data }: Visitor, verb: string): Promise<void> => {
    // The first reply of a transfer must arrive, or its data never do.
    if (verb !== 'STOR' && verb !== 'APPE') socket.cork();
    else void data().then((connection) => connection.once('end', () => socket.cork()));
    await usual();
  };
  const lose = async (verb: string, visitor: Visitor): Promise<void> => {
    const { socket, usual, say } = visitor;
    if (lost.loss === REFUSED && verb !== 'RNTO') return usual();
    if (asked++ !== lost.at) return usual();
    if (lost.loss === 'before it is executed') return void socket.destroy();
    if (lost.loss === 'after it was executed') {
      await executed(visitor, verb);
      return void socket.destroy();
    }
    const write = socket.write.bind(socket);
    socket.write = () => true;
    await usual();
    socket.write = write;
    say('550 failed all the same');
  };
  const script = new Proxy<Script>(
    {},
    {
      get: (_, verb) =>
        verb === 'GREETING' ? undefined : (_argument: string, visitor: Visitor) => lose(String(verb), visitor),
    },
  );
  const server = await startScripted(script, ['SIZE', 'MDTM']);
  t.after(() => server.stop());
  const client = clientFor(server);
  return {
    files: server.files,
    open: async () => {
      const session = await client.open();
      t.after(() => session.close());
      const remote = await client.remoteOn(session);
      // The first data connection shows whether the server knows EPSV, the first lookup whether SIZE takes folders.
      await remote.stat(path('/'));
      return remote;
    },
    arm: (at, loss) => {
      asked = 0;
      lost = { at, loss };
    },
    asked: () => asked,
    isNoted: (name) => client.removedLater.some((noted) => noted === name),
  };
}

const textOf = (files: ReadonlyMap<string, Buffer>, isNoted: (name: string) => boolean): Files =>
  new Map(
    [...files]
      .filter(([name]) => !isNoted(name))
      .map(([name, content]) => [name, content.toString()] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

/** Does the change once undisturbed, then with the loss at each of its requests. */
async function reportsWhatItDid(server: Losing, loss: Loss, change: (typeof CHANGES)[number]): Promise<void> {
  const { what, before, after, run } = change;
  const open = (): Promise<Remote> => {
    server.arm(undefined, loss);
    server.files.clear();
    for (const [file, content] of before) server.files.set(file, Buffer.from(content));
    return server.open();
  };
  const first = await open();
  server.arm(undefined, loss);
  await run(first);
  const requests = server.asked();
  assert.deepEqual(textOf(server.files, server.isNoted), after);
  for (let at = 0; at < requests; at++) {
    const remote = await open();
    server.arm(at, loss);
    const outcome = await run(remote).then(
      () => 'success',
      (error: unknown) => String(error),
    );
    const now = textOf(server.files, server.isNoted);
    assert.deepEqual(now, outcome === 'success' ? after : before, `${what}, request ${at}: ${outcome}`);
  }
}

const SERVERS: readonly (readonly [string, (t: TestContext) => Promise<Losing>])[] = [
  ['FTP', losingFtp],
  ['SFTP, one channel of a connection', (t) => losingSftp(t, 'the channel')],
  ['SFTP', (t) => losingSftp(t, 'the connection')],
];

for (const [name, start] of SERVERS) {
  describe(`${name}: the session is lost`, () => {
    for (const loss of ['before it is executed', 'after it was executed'] as const) {
      for (const change of CHANGES) {
        test(`at each request of ${change.what}, ${loss}`, async (t) => {
          await reportsWhatItDid(await start(t), loss, change);
        });
      }
    }
  });
}

test('a rename that is done and refused all the same', async (t) => {
  for (const [, start] of SERVERS.slice(0, 2)) {
    for (const change of CHANGES.filter(({ what }) => /upload|move/.test(what))) {
      await reportsWhatItDid(await start(t), REFUSED, change);
    }
  }
});
