import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { parseDatabaseUrl } from '../../src/storage/postgres/target.js';
import { Database } from '../../src/storage/postgres/database.js';
import { DATABASES, openTest, type TestServer, testOptions } from './databases.js';
import { startProxy } from '../support/proxy.js';
import { ACCOUNT, accountOf } from './provisioned.js';
import { anyCharacter } from '../support/any-character.js';

/** Texts that PostgreSQL can store. */
const text = fc.string({ unit: anyCharacter }).map((value) => value.replaceAll('\0', '').toWellFormed());
/** Also texts that look like the syntax of an array. */
const trickyText = fc.oneof(text, fc.constantFrom('', 'NULL', 'null', '{}', '"', '\\', 'a,b', ' ', '{"a"}', '\n'));

for (const kind of DATABASES) {
  describe(`types of the driver on ${kind.name}`, () => {
    let server: TestServer;
    let database: Database;
    before(async () => {
      server = await kind.start();
      const url = await server.createDatabase();
      database = new Database(await parseDatabaseUrl(url), testOptions(url));
    });
    after(async () => {
      await database.close();
      await server.stop();
    });

    it('arrays arrive as they were sent, with any elements, null first or none at all', async () => {
      const nullable = <T>(element: fc.Arbitrary<T>) => fc.array(fc.option(element), { maxLength: 6 });
      const row = fc.record({
        texts: nullable(trickyText),
        uuids: nullable(fc.uuid()),
        bigints: nullable(fc.maxSafeInteger()),
        booleans: nullable(fc.boolean()),
        times: nullable(fc.date({ min: new Date(0), max: new Date('2999-12-31'), noInvalidDate: true })),
      });
      await fc.assert(
        fc.asyncProperty(row, async (sent) => {
          const [found] = await database.run(
            (sql) => sql`
              select ${sql.types.texts(sent.texts)} as texts, ${sql.types.uuids(sent.uuids)} as uuids,
                     ${sql.types.bigints(sent.bigints)} as bigints, ${sql.types.booleans(sent.booleans)} as booleans,
                     ${sql.types.times(sent.times)} as times`,
          );
          assert.deepEqual({ ...found }, { ...sent });
        }),
        { numRuns: 200 },
      );
    });

    it('arrays are sent as the declared type, so that the server can compare them', async () => {
      const [row] = await database.run(
        (sql) => sql`
          select pg_typeof(${sql.types.texts([])})::text as texts, pg_typeof(${sql.types.uuids([])})::text as uuids,
                 pg_typeof(${sql.types.bigints([])})::text as bigints,
                 pg_typeof(${sql.types.booleans([])})::text as booleans,
                 pg_typeof(${sql.types.times([])})::text as times`,
      );
      assert.deepEqual(
        { ...row },
        {
          texts: 'text[]',
          uuids: 'uuid[]',
          bigints: 'bigint[]',
          booleans: 'boolean[]',
          times: 'timestamp with time zone[]',
        },
      );
    });
  });
}

describe('a connection to the database', () => {
  it('asks the catalogue for no types before its first statement', async () => {
    const [, systemServer] = DATABASES;
    assert.ok(systemServer !== undefined);
    const server = await systemServer.start();
    const url = new URL(await server.createDatabase());
    const proxy = await startProxy(Number(url.port), { listens: true });
    url.port = String(proxy.port);
    const storage = await openTest(url.href);
    await storage.provision([ACCOUNT]);
    assert.deepEqual((await accountOf(storage)).allowedIps, ['10.0.0.0/8']);
    await storage.close();
    assert.ok(proxy.said.includes('select 1'), 'the proxy hears what is said');
    assert.ok(!proxy.said.includes('pg_type'));
    await proxy.stop();
    await server.stop();
  });
});
