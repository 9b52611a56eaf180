/** Multipart uploads on SFTP servers that write only at the end of a file. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { REQUEST } from '../../src/remotes/sftp/wire/wire.js';
import { type Oddities, type OddRequest, type OddServer, startOddServer } from '../servers/scripted-sftp.js';
import { DATABASES, type TestServer as Database } from '../storage/databases.js';
import { withSql } from '../support/sql.js';
import { startPartNode } from './multipart-node.js';

const PART_BYTES = 128 * 1024;
const OP_UNSUPPORTED = 8;

/** The file of a WRITE request whose offset is not its end. */
function misplaced(server: OddServer, { type, fields }: OddRequest) {
  if (type !== REQUEST.WRITE) return undefined;
  const path = fields.string().toString();
  const offset = fields.uint64();
  const content = server.files.get(path) ?? Buffer.alloc(0);
  return { path, content, more: fields.string(), isAtEnd: offset === content.length };
}

const ODDITIES: Readonly<Record<string, (server: OddServer) => NonNullable<Oddities['odd']>>> = {
  'refuses every offset but the end': (server) => (request) => {
    const found = misplaced(server, request);
    if (found === undefined) return false;
    if (found.isAtEnd) server.files.set(found.path, Buffer.concat([found.content, found.more]));
    request.status(found.isAtEnd ? 0 : OP_UNSUPPORTED);
    return true;
  },
  'takes no notice of offsets': (server) => (request) => {
    const found = misplaced(server, request);
    if (found === undefined) return false;
    server.files.set(found.path, Buffer.concat([found.content, found.more]));
    request.status(0);
    return true;
  },
};

let database: Database;

describe('multipart uploads', { concurrency: true }, () => {
  before(async () => {
    database = await (DATABASES[1] ?? assert.fail()).start();
  });
  after(() => database?.stop());

  for (const [what, oddity] of Object.entries(ODDITIES)) {
    test(`on a server that ${what}: parts at once, in any order, become one file`, async (t) => {
      let odd: ReturnType<typeof oddity> = () => false;
      const server = await startOddServer({ odd: (request) => odd(request) });
      odd = oddity(server);
      t.after(() => server.stop());
      const { port, username } = server;
      const connection = { type: 'sftp', host: '127.0.0.1', port, username, password: 'any' };
      const url = await database.createDatabase();
      const node = await startPartNode(url, connection);
      t.after(() => node.stop());
      const id = await node.begin('/file.bin');
      const [row] = await withSql(url, (sql) => sql<{ layout: string }[]>`select layout from uploads where id = ${id}`);
      assert.equal(row?.layout, 'turns');
      const parts = [2, 0, 3, 1].map((at) => ({
        number: at + 1,
        content: randomBytes(PART_BYTES + (at === 3 ? 7 : 0)),
      }));
      const sent = await Promise.all(parts.map(({ number, content }) => node.write(id, number, content)));
      const listed = sent.toSorted((a, b) => a.number - b.number);
      const options = { exclusive: false, leastPartBytes: 0 };
      await node.multipart.complete(await node.request(), id, listed, options);
      const whole = parts.toSorted((a, b) => a.number - b.number).map(({ content }) => content);
      assert.deepEqual([...server.files.keys()], ['/file.bin']);
      assert.ok(server.files.get('/file.bin')?.equals(Buffer.concat(whole)));
    });
  }
});
