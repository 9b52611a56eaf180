/**
 * A database that stops accepting writes: work that was done reports it, and is not repeated; then nothing is begun any
 * more.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { uploadRaw, type HistoryItem } from '../api/support.js';
import { startPostgres, type PostgresServer } from '../servers/postgres.js';
import { withSql } from '../storage/databases.js';
import type { ApiAnswer, TestGateway } from '../support/gateway.js';
import { eventually } from '../support/eventually.js';
import { held } from '../support/reliability.js';
import { Tus } from '../uploads/support.js';
import { overRemotes, PROTOCOLS, startRemotes, answerText, type ProtocolName } from './rig.js';

/** Nothing is written for them before they begin. */
const UNAWARE = ['upload', 'write', 'append', 'copy', 'move', 'delete'];

/** One operation, and whether the server shows that it was done. */
interface Case {
  readonly name: string;
  readonly send: () => Promise<ApiAnswer>;
  readonly isPerformed?: () => Promise<boolean>;
}

describe('a database that stops accepting writes', { timeout: 900_000 }, () => {
  let remotes: Awaited<ReturnType<typeof startRemotes>>;
  let postgres: PostgresServer;
  let gateway: TestGateway;
  before(async () => {
    [remotes, postgres] = await Promise.all([startRemotes(), startPostgres()]);
    gateway = await overRemotes(remotes, { config: { database: { url: postgres.url } } });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([remotes?.stop(), postgres?.stop()]);
  });

  const readOnly = async (value: 'on' | 'off'): Promise<void> => {
    await withSql(postgres.url, async (sql) => {
      await sql.unsafe('set default_transaction_read_only = off');
      await sql.unsafe(`alter system set default_transaction_read_only = ${value}`);
      await sql`select pg_reload_conf()`;
    });
    // A new session shows it once every other one was signalled.
    const isSeen = (): Promise<boolean> =>
      withSql(postgres.url, async (sql) => {
        const [row] = await sql<{ value: string }[]>`select current_setting('default_transaction_read_only') as value`;
        return row?.value === value;
      });
    await eventually(isSeen, `read-only is ${value}`);
  };
  const takesWritesAgain = async (): Promise<void> => {
    await readOnly('off');
    await eventually(async () => (await gateway.api.get('/readyz')).status === 200, 'it takes writes again');
  };

  const disk = (protocol: ProtocolName) => remotes[protocol].server.disk;
  const isThere = async (protocol: ProtocolName, file: string): Promise<boolean> =>
    (await disk(protocol).files('/')).includes(file);
  const textOf = async (protocol: ProtocolName, file: string): Promise<string> =>
    (await isThere(protocol, file)) ? (await disk(protocol).read(file)).toString() : '';

  /** The files before, and every operation on them; `turn` names their folder. */
  const casesOf = async (protocol: ProtocolName, turn: string): Promise<readonly Case[]> => {
    const folder = `/unrecorded-${turn}`;
    const { api } = gateway;
    for (const name of ['old', 'moved', 'deleted', 'log']) await disk(protocol).write(`${folder}/${name}`, 'before');
    // The folder is noted, for after a crash, with the first upload into it.
    assert.equal((await uploadRaw(api, protocol, { path: folder, filename: 'first' }, 'x')).status, 200);
    const tus = new Tus(api, protocol);
    const url = await tus.begin({ path: folder, filename: 'tus' }, 3);
    const link = await api.post('/api/links', {
      operation: 'upload',
      connectionId: protocol,
      path: folder,
      filename: 'link',
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    });
    assert.equal(link.status, 201, link.text);
    const linkPath = new URL((link.json['link'] as { url: string }).url, 'http://x').pathname;
    const at = (name: string): string => `${folder}/${name}`;
    const stored = (name: string) => () => isThere(protocol, at(name));
    const post = (path: string, body: object) => () => api.post(`/api/${path}/${protocol}`, body);
    const query = (path: string, name: string) => () => api.get(`/api/${path}/${protocol}`, { query: { path: name } });
    return [
      {
        name: 'upload',
        send: () => uploadRaw(api, protocol, { path: folder, filename: 'raw' }, 'new'),
        isPerformed: stored('raw'),
      },
      {
        name: 'upload in JSON',
        send: post('upload', { path: folder, filename: 'json', content: Buffer.from('new').toString('base64') }),
        isPerformed: stored('json'),
      },
      { name: 'write', send: post('write', { path: at('written'), content: 'new' }), isPerformed: stored('written') },
      {
        name: 'copy',
        send: () =>
          api.post('/api/copy', {
            source_connection_id: protocol,
            source_path: at('old'),
            dest_connection_id: protocol,
            dest_path: at('copied'),
          }),
        isPerformed: stored('copied'),
      },
      {
        name: 'move',
        send: post('move', { from: at('moved'), to: at('there') }),
        isPerformed: stored('there'),
      },
      {
        name: 'delete',
        send: post('delete', { path: at('deleted') }),
        isPerformed: async () => !(await isThere(protocol, at('deleted'))),
      },
      ...(protocol === 's3'
        ? []
        : [
            {
              name: 'append',
              send: post('append', { path: at('log'), content: '+' }),
              isPerformed: async () => (await textOf(protocol, at('log'))) !== 'before',
            },
          ]),
      {
        name: 'the last piece of a resumable upload',
        send: () => tus.patch(url, 0, Buffer.from('new')),
        isPerformed: stored('tus'),
      },
      {
        name: 'an upload by a link',
        send: () => api.send(linkPath, { method: 'PUT', body: 'new', key: '' }),
        isPerformed: stored('link'),
      },
      { name: 'list', send: query('list', folder) },
      { name: 'exists', send: query('exists', at('old')) },
      { name: 'read', send: query('read', at('old')) },
      { name: 'download', send: query('download', at('old')) },
    ];
  };

  const all = async (turn: string): Promise<readonly (Case & { readonly protocol: ProtocolName })[]> => {
    const found: (Case & { readonly protocol: ProtocolName })[] = [];
    for (const protocol of PROTOCOLS) {
      for (const one of await casesOf(protocol, turn)) found.push({ ...one, protocol });
    }
    return found;
  };

  test('done, and not recorded: no Retry-After; known: nothing is begun; back: every outcome is recorded', async () => {
    // For the others something is written before they begin: a link's use, the lease of a resumable upload.
    const first = (await all('first')).filter(({ name }) => UNAWARE.includes(name));
    const second = await all('second');
    const unrecorded = new Set<string>();
    const performed = new Set<string>();
    // All at once: none of them knows yet. The gateway's own write may find out first; then the rest is sent again.
    for (let isFirst = true; unrecorded.size < UNAWARE.length; isFirst = false) {
      if (!isFirst) await takesWritesAgain();
      await readOnly('on');
      const sent = first.filter(({ name }) => !unrecorded.has(name));
      const answers = await Promise.all(sent.map(({ send }) => send()));
      for (const [index, { name, protocol, isPerformed }] of sent.entries()) {
        const answer = answers[index] ?? assert.fail();
        const what = `${name} on ${protocol}: ${answerText(answer)}`;
        assert.equal(answer.status, 503, what);
        const code = answer.headers['x-error-code'];
        if (await isPerformed?.()) assert.equal(code, 'outcome_unrecorded', what);
        if (code === 'outcome_unrecorded') {
          assert.equal(answer.headers['retry-after'], undefined, what);
          unrecorded.add(name);
          if (name === 'upload') performed.add(`${protocol} upload /unrecorded-first/raw`);
        } else {
          assert.equal(code, 'database_away', what);
          assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/, what);
        }
      }
    }

    for (const { name, protocol, send, isPerformed } of second) {
      const answer = await send();
      const what = `${name} on ${protocol}: ${answerText(answer)}`;
      assert.deepEqual([answer.status, answer.headers['x-error-code']], [503, 'database_away'], what);
      assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/, what);
      assert.equal((await isPerformed?.()) ?? false, false, what);
    }

    await takesWritesAgain();
    const recorded = async (): Promise<ReadonlyMap<string, string>> => {
      const { json } = await gateway.api.get('/api/transfers', { query: { limit: '100' } });
      const items = json['transfers'] as HistoryItem[];
      return new Map(items.map(({ connectionId, type, path, status }) => [`${connectionId} ${type} ${path}`, status]));
    };
    await eventually(async () => {
      const items = await recorded();
      return [...performed].every((key) => items.get(key) === 'success');
    }, 'what was performed is in the history');
    for (const { name, protocol, send } of second) {
      const answer = await send();
      assert.ok(answer.status < 300, `${name} on ${protocol}: ${answerText(answer)}`);
    }
    held({
      area: 'Faults',
      what: 'the database takes no writes any more (read-only), under every operation',
      done: 'every operation on SFTP, FTP and S3, all at once before it is known, and one by one when it is',
      held: '503 outcome_unrecorded without Retry-After for what was performed; then 503 database_away, and nothing is begun; recorded once writes are taken again',
      tries: first.length + second.length,
    });
  });
});
