/**
 * Links in the database: each use is taken once over all nodes, counted or returned with its transfer, and links end
 * with their key.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { apiKeyFields } from '../../src/contract/api-key.js';
import type { Link, LinkSettings } from '../../src/contract/link.js';
import { withDefaults } from '../../src/contract/thing.js';
import type { Storage, TransferOutcome } from '../../src/storage/storage.js';
import { DATABASES, FAILURE, openTest, SUCCESS, type TestServer, until, upload, withSql } from './databases.js';
import { ACCOUNT, accountOf } from './provisioned.js';

const LEFT: TransferOutcome = { ...FAILURE, errorCode: 'client_gone' };

for (const kind of DATABASES) {
  describe(`links on ${kind.name}`, () => {
    let server: TestServer;
    let url: string;
    let one: Storage;
    let two: Storage;
    let accountId: string;
    let actor: Parameters<Storage['links']['create']>[0];
    before(async () => {
      server = await kind.start();
      url = await server.createDatabase();
      [one, two] = await Promise.all([openTest(url), openTest(url)]);
      await one.provision([ACCOUNT]);
      ({ accountId } = await accountOf(one));
      const who = { kind: 'key', id: null, email: 'a@example.com', address: '127.0.0.1', requestId: 'r' } as const;
      actor = { ...who, accountId };
    });
    after(async () => {
      await Promise.all([one.close(), two.close()]);
      await server.stop();
    });

    const settings = (changes: Partial<LinkSettings> = {}): LinkSettings => ({
      operation: 'upload',
      connectionId: 'warehouse',
      path: '/in',
      filename: null,
      note: null,
      overwrite: false,
      folders: false,
      digest: null,
      maxBytes: null,
      maxUses: 1,
      expiresAt: new Date(Date.now() + 3_600_000),
      ...changes,
    });
    const make = (changes: Partial<LinkSettings> = {}, keyId: string | null = null) =>
      one.links.create(actor, keyId, settings(changes), 1000);
    const now = async ({ id }: Link): Promise<Link> => (await two.links.find(accountId, id))!;
    const begin = (storage: Storage, { id }: Link) => storage.history.begin(upload(accountId, { linkId: id }));

    it('if many on two nodes take uses, exactly the available ones are granted, and a counted one is gone', async () => {
      const { link } = await make({ maxUses: 3 });
      const takes = await Promise.all(
        Array.from({ length: 24 }, (_, i) => (i % 2 === 0 ? one : two).links.take(link.id)),
      );
      assert.equal(takes.filter((taken) => taken === 'taken').length, 3);
      const mine = takes.filter((taken, i) => taken === 'taken' && i % 2 === 0).length;
      for (let i = 0; i < 3; i++) await begin(i < mine ? one : two, link).finish(SUCCESS);
      const { uses, state, lastUsedAt } = await now(link);
      assert.deepEqual([uses, state, lastUsedAt === null], [3, 'used_up', false]);
      assert.equal(await two.links.take(link.id), 'ended');
    });

    it('the concurrent uses of a link are limited over all nodes', async () => {
      const { link } = await make({ maxUses: null });
      const takes = await Promise.all(
        Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? one : two).links.take(link.id, 2)),
      );
      assert.deepEqual(takes.sort(), ['busy', 'busy', 'busy', 'busy', 'taken', 'taken']);
      assert.equal(await one.links.take(link.id, 3), 'taken', 'the bound is the only reason');
      await two.links.revoke(actor, link);
      assert.equal(await one.links.take(link.id, 2), 'ended');
    });

    it('a failed use is returned, and a read-only request takes none', async () => {
      const { link } = await make();
      assert.equal(await one.links.take(link.id), 'taken');
      assert.equal(await two.links.take(link.id), 'ended');
      const running = begin(one, link);
      await one.history
        .begin(upload(accountId, { linkId: link.id, type: 'exists', direction: 'inbound' }))
        .finish(SUCCESS);
      assert.equal(await two.links.take(link.id), 'ended', 'a look gives nothing back');
      await running.finish(FAILURE);
      assert.equal(await two.links.take(link.id), 'taken');
      await begin(two, link).finish(SUCCESS);
      assert.equal((await now(link)).uses, 1);
    });

    it('a link whose users abort again and again is used up, one whose server fails is not', async () => {
      const { link } = await make();
      for (let i = 0; i < 25; i++) {
        assert.equal(await one.links.take(link.id), 'taken');
        await begin(one, link).finish(FAILURE);
      }
      for (let i = 0; i < 20; i++) {
        assert.equal(await one.links.take(link.id), 'taken', `try ${i}`);
        await begin(one, link).finish(LEFT);
      }
      assert.equal(await one.links.take(link.id), 'ended');
      assert.deepEqual([(await now(link)).state, (await now(link)).uses], ['used_up', 0]);
    });

    it('an upload in pieces takes one use, also again on another node; it counts with the others, and is returned', async () => {
      const { link } = await make({ maxUses: 2 });
      const limits = { unfinished: 100, expireHours: 24 };
      const place = {
        accountId,
        connectionId: link.connectionId,
        linkId: link.id,
        keyId: null,
        path: '/a',
        hidden: '/.a',
      };
      const file = { metadata: '', overwrite: true, modifiedAt: null, length: 10, wantsDigest: false, checksum: null };
      const [upload, other] = [randomUUID(), randomUUID()];
      for (const id of [upload, other])
        await one.uploads.create({ id, ...place, ...file, hashStates: null, layout: null }, randomUUID(), limits);
      for (const node of [one, two, one]) assert.equal(await node.links.take(link.id, 2, upload), 'taken');
      assert.equal(await two.links.take(link.id, 2), 'taken');
      assert.equal(await one.links.take(link.id, 2, other), 'ended');
      assert.equal(await two.links.take(link.id, 2, upload), 'taken', 'its own use does not stand in its way');
      await two.links.giveBack(link.id, upload);
      assert.equal(await one.links.take(link.id, 2, other), 'taken');
      assert.equal(await two.links.take(link.id, 2, upload), 'ended');
      await begin(two, link).finish(FAILURE);
      assert.equal(await two.links.take(link.id, 1, upload), 'busy', 'only the bound is in its way');
    });

    it('the uses of a dead node are returned, those of others stay taken', async () => {
      const { link } = await make({ maxUses: 2 });
      const dying = await openTest(url);
      assert.equal(await dying.links.take(link.id), 'taken');
      assert.equal(await one.links.take(link.id), 'taken');
      const lost = dying.history.begin(upload(accountId, { linkId: link.id }));
      await lost.recordPending();
      assert.equal(await two.links.take(link.id), 'ended');
      await dying.close();
      await until(
        async () => ((await two.links.take(link.id)) === 'taken' ? true : undefined),
        'the use is given back',
      );
      assert.equal(await two.links.take(link.id), 'ended', 'once');
      const { status } = await until(async () => {
        const found = await one.history.find(accountId, lost.id);
        return found?.status === 'pending' ? undefined : found;
      }, 'its transfer has ended');
      assert.equal(status, 'failed');
    });

    it('a revoked or expired link, or one without its connection, grants no use', async () => {
      const [revoked, expired] = await Promise.all([make(), make()]);
      await two.links.revoke(actor, revoked.link);
      await withSql(url, (sql) => sql`update links set expires_at = now() where id = ${expired.link.id}`);
      for (const [{ link, token }, state] of [
        [revoked, 'revoked'],
        [expired, 'expired'],
      ] as const) {
        assert.equal(await one.links.take(link.id), 'ended');
        assert.equal((await one.links.open(token))?.state, state);
      }
      const ended = (await now(revoked.link)).revokedAt;
      await two.links.revoke(actor, revoked.link);
      assert.deepEqual((await now(revoked.link)).revokedAt, ended, 'the first time counts');
      const { id } = expired.link;
      await withSql(url, (sql) => sql`update links set expires_at = now() - interval '31 days' where id = ${id}`);
      // Links that ended long ago are deleted within an hour, and when a node starts.
      const third = await openTest(url);
      await until(async () => ((await one.links.find(accountId, id)) === undefined ? true : undefined), 'it is gone');
      await third.close();
    });

    it('it ends with its key, and continues with the key that replaces it', async () => {
      const rights = withDefaults(apiKeyFields, {
        name: 'maker',
        scopes: ['write'],
        connections: ['warehouse'],
        allowedIps: ['192.0.2.0/24'],
      });
      const keys = one.keys;
      const made = await keys.create(actor, rights);
      const { link, token } = await make({ maxUses: null }, made.id);
      const stateNow = async (): Promise<string | undefined> => (await two.links.open(token))?.state;
      assert.deepEqual((await two.links.open(token))?.allowedIps, ['192.0.2.0/24']);
      for (const changes of [
        { scopes: ['read'] },
        { connections: ['lake'] },
        { expiresAt: new Date(Date.now() - 1) },
      ] as const) {
        await keys.update(actor, made.id, { ...rights, ...changes }, Object.keys(changes));
        assert.equal(await stateNow(), 'key_ended', Object.keys(changes)[0]);
      }
      await keys.update(actor, made.id, rights, ['scopes']);
      assert.equal(await stateNow(), 'active');
      const former = await keys.find(accountId, made.id);
      const next = await keys.rotate(actor, former!, new Date());
      assert.deepEqual([await stateNow(), (await now(link)).keyId], ['active', next.id]);
      await keys.revoke(actor, (await keys.find(accountId, next.id))!);
      assert.equal(await stateNow(), 'key_ended');
    });

    it('the secret is in no row, and the limit of an account is exact', async () => {
      const { token } = await make();
      const [{ rows }] = (await withSql(url, (sql) => sql`select string_agg(l::text, ' ') as rows from links l`)) as [
        { rows: string },
      ];
      assert.ok(!rows.includes(token));
      assert.equal(await one.links.open(`${token.slice(0, -1)}!`), undefined);
      const all = await one.links.list(accountId, { limit: 1000 });
      const most = all.filter(({ state }) => state !== 'revoked' && state !== 'expired').length;
      await assert.rejects(one.links.create(actor, null, settings(), 1), { code: 'share_exceeded' });
      const made = await Promise.allSettled(
        Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? one : two).links.create(actor, null, settings(), most + 1)),
      );
      const fitting = made.filter(({ status }) => status === 'fulfilled').length;
      assert.equal(fitting, 1);
    });
  });
}
