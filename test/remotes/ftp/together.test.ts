/** Commands that are sent in one write, to servers that are known to queue them. */
import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { putWhole } from '../../../src/remotes/whole.js';
import { failsWith } from '../support/s3-rig.js';
import { at, clientFor, type Client, get } from '../support/ftp-client.js';
import { MTIME, startScripted, type Script, type ScriptedFtp } from '../../servers/scripted-ftp.js';

suite('commands that wait for no answer', () => {
  const body = Buffer.from('x');
  const modifiedAt = new Date('2024-02-29T12:34:56.000Z');
  /** How many commands arrived together with one of this verb, after it, at most. */
  let behind: Record<string, number>;

  async function setUp(t: TestContext, greeting: string, more: Script = {}): Promise<[ScriptedFtp, Client]> {
    behind = {};
    const counted = (verb: string): Script[string] => {
      return async (_argument, { usual }) => {
        const before = server.commands.length;
        queueMicrotask(() => (behind[verb] = Math.max(behind[verb] ?? 0, server.commands.length - before)));
        await usual();
      };
    };
    const script: Script = {
      GREETING: greeting,
      SIZE: counted('SIZE'),
      RNFR: counted('RNFR'),
      MFMT: (_argument, { say }) => {
        const before = server.commands.length;
        queueMicrotask(() => (behind['MFMT'] = server.commands.length - before));
        say('213 done');
      },
    };
    const server = await startScripted({ ...script, ...more }, ['MFMT']);
    t.after(() => server.stop());
    return [server, clientFor(server)];
  }

  const store = (client: Client, limits: Parameters<Client['use']>[2] = {}): Promise<unknown> =>
    client.use((remote) => putWhole(remote, at('/a'), body, { modifiedAt }), {}, limits);

  for (const greeting of ['220 (vsFTPd 3.0.5)', '220 Welcome to Pure-FTPd [privsep]', '220 ProFTPD Server']) {
    test(`${greeting.slice(4)}: time, size and time; both parts of a rename`, async (t) => {
      const [server, client] = await setUp(t, greeting);
      await store(client);
      assert.deepEqual(behind, { MFMT: 2, SIZE: 1, RNFR: 1 });
      assert.equal(server.files.get('/a')?.toString(), 'x');
    });
  }

  test('REST is under way while the data connection opens', async (t) => {
    let begun = (): void => undefined;
    const restarted = new Promise<void>((done) => (begun = done));
    const [server, client] = await setUp(t, '220 hello', {
      REST: async (_argument, { usual }) => {
        begun();
        await usual();
      },
    });
    server.files.set('/a', Buffer.from('0123456789'));
    const { dialer } = client.deps;
    const connect = dialer.connect.bind(dialer);
    t.mock.method(dialer, 'connect', async (...order: Parameters<typeof connect>) => {
      if (order[1] !== server.port) await restarted;
      return connect(...order);
    });
    const read = await client.use((remote) => get(remote, '/a', { start: 3, end: 6 }));
    assert.equal(read.toString(), '3456');
  });

  test('size and time of a file that is looked at are one round trip, if the server is known to queue commands', async (t) => {
    for (const [greeting, together] of [
      ['220 (vsFTPd 3.0.5)', 1],
      ['220 hello', 0],
    ] as const) {
      const [server, client] = await setUp(t, greeting);
      server.files.set('/a', body);
      const info = await client.use((remote) => remote.stat(at('/a')));
      assert.deepEqual([info.size, behind['SIZE'], verbs(server, 'MDTM').length], [1, together, 1]);
    }
  });

  test('a server that does not queue commands is not asked for the time of what is missing', async (t) => {
    const [server, client] = await setUp(t, '220 hello');
    await assert.rejects(
      client.use((remote) => remote.stat(at('/absent'))),
      failsWith('not_found'),
    );
    assert.deepEqual([verbs(server, 'SIZE').length, verbs(server, 'MDTM').length], [1, 0]);
  });

  test('an unknown server gets one command at a time, and no sequel of a refused one', async (t) => {
    const [server, client] = await setUp(t, '220 hello');
    await store(client);
    assert.deepEqual(behind, { MFMT: 0, SIZE: 0, RNFR: 0 });
    assert.equal(server.files.get('/a')?.toString(), 'x');
    const [refusing, other] = await setUp(t, '220 hello', { RNFR: '550 no' });
    await assert.rejects(store(other), failsWith('remote_failure'));
    assert.equal(verbs(refusing, 'RNTO').length, 0);
  });

  test('a refusal in the middle is reported, and later answers are matched correctly', async (t) => {
    const [server, client] = await setUp(t, '220 (vsFTPd 3.0.5)', {
      RNFR: '550 no',
      RNTO: '503 RNFR required first.',
    });
    await assert.rejects(store(client), failsWith('remote_failure', /renaming/));
    assert.deepEqual(verbs(server, 'RN').slice(0, 2), ['RNFR', 'RNTO']);
    assert.deepEqual([...server.files.keys()], [], 'the hidden file is taken away');
  });

  test('answers that are missing, too many, or end the session', async (t) => {
    const limits = { connectTimeoutMs: 2_000, stallTimeoutMs: 2_000 };
    for (const [answer, code] of [
      [undefined, 'stall_timeout'],
      ['213 1\r\n213 1\r\n213 1\r\n213 1', 'protocol_error'],
      ['421 closing', 'connection_lost'],
    ] as const) {
      const SIZE: Script[string] = answer ?? (() => undefined);
      const [server, client] = await setUp(t, '220 (vsFTPd 3.0.5)', { SIZE, MDTM: `213 ${MTIME}` });
      await assert.rejects(store(client, limits), failsWith(code));
      assert.equal(server.files.has('/a'), false);
    }
  });
});

const verbs = (server: ScriptedFtp, start: string): string[] =>
  server.commands.flatMap((line) => (line.startsWith(start) ? [line.split(' ')[0] ?? ''] : []));
