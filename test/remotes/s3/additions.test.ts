/** What a connection adds to its requests: storage class, ACL, requester pays, checksums. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { S3Connection } from '../../../src/connections/connection.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { S3Stub, s3Error, type StubRequest } from '../../servers/scripted-s3.js';
import { at, connectionTo, failsWith, fetchAll, namesIn, PART, patterned, S3Rig, store } from '../support/s3-rig.js';

const MIB = 1024 * 1024;
const SIZES = [0, 10, 2 * MIB, 2 * PART + 5];

const makes = ({ method, query }: StubRequest): boolean =>
  (method === 'PUT' && !query.has('partNumber')) || (method === 'POST' && query.has('uploads'));
const isTemporary = ({ key }: StubRequest): boolean => key.includes('.ftg-');
const carriesBytes = ({ method, headers }: StubRequest): boolean =>
  method === 'PUT' && headers['x-amz-copy-source'] === undefined;
const refuseUnsummed = (request: StubRequest) =>
  carriesBytes(request) && request.headers['content-md5'] === undefined
    ? s3Error(400, 'MissingContentMD5', 'Missing required header for this request: Content-MD5')
    : undefined;

for (const uploader of ['streamed', 'sdk'] as const)
  describe(`what an S3 connection adds to its requests (${uploader})`, () => {
    let stub: S3Stub;
    const rigs: S3Rig[] = [];
    before(async () => {
      stub = await S3Stub.start();
    });
    beforeEach(() => stub.reset());
    afterEach(() => {
      for (const rig of rigs.splice(0)) rig.close();
    });
    after(() => stub.stop());

    const open = (settings: Partial<S3Connection>): Promise<Remote> => {
      const connection = connectionTo({ endpoint: stub.endpoint, bucket: 'b', uploader });
      const rig = new S3Rig({ ...connection, ...settings });
      rigs.push(rig);
      return rig.open();
    };

    const useAll = async (remote: Remote): Promise<void> => {
      for (const size of SIZES) {
        const bytes = patterned(size);
        await store(remote, '/known', bytes);
        await store(remote, '/unknown', bytes, {});
        await store(
          remote,
          '/read-back',
          bytes,
          { size, isChecked: true },
          { check: async (read) => drain(await read()) },
        );
        assert.ok((await fetchAll(remote, '/known')).equals(bytes));
      }
      await remote.makeFolder(at('/folder'));
      await remote.copyFrom?.(remote, at('/known'), at('/folder/copy'), { exclusive: false });
      await remote.move(at('/folder/copy'), at('/folder/moved'), { replace: true });
      await namesIn(remote, '/folder');
      await remote.stat(at('/known'));
      await remote.remove(at('/known'));
      await remote.removeTree?.(at('/folder'), () => undefined);
    };

    test('nothing, unless it is set', async () => {
      await useAll(await open({}));
      for (const { headers } of stub.requests)
        for (const name of ['x-amz-acl', 'x-amz-storage-class', 'x-amz-request-payer']) assert.ok(!(name in headers));
    });

    test('the storage class and the ACL of every object that is made, signed; no class for what is temporary', async () => {
      await useAll(await open({ storageClass: 'STANDARD_IA', acl: 'bucket-owner-full-control' }));
      const made = stub.requests.filter(makes);
      assert.ok(made.some(isTemporary) && made.some(({ query }) => query.has('uploads')));
      for (const request of stub.requests) {
        const { method, key, headers } = request;
        const { 'x-amz-acl': acl, 'x-amz-storage-class': storageClass, authorization = '' } = headers;
        const what = `${method} ${key}`;
        assert.equal(acl, makes(request) ? 'bucket-owner-full-control' : undefined, what);
        assert.equal(storageClass, makes(request) && !isTemporary(request) ? 'STANDARD_IA' : undefined, what);
        if (acl !== undefined) assert.match(authorization, /SignedHeaders=[^,]*x-amz-acl/);
        if (storageClass !== undefined) assert.match(authorization, /SignedHeaders=[^,]*x-amz-storage-class/);
      }
    });

    test('who pays for every request', async () => {
      await useAll(await open({ requesterPays: true }));
      for (const { method, key, headers } of stub.requests) {
        assert.equal(headers['x-amz-request-payer'], 'requester', `${method} ${key}`);
        assert.match(headers.authorization ?? '', /SignedHeaders=[^,]*x-amz-request-payer/);
      }
    });

    test('who pays for what another connection reads, in a copy inside the store', async () => {
      const paying = await open({ requesterPays: true });
      const plain = await open({});
      await store(paying, '/f', patterned(10));
      stub.early = ({ method, headers }) =>
        headers['x-amz-copy-source'] !== undefined && headers['x-amz-request-payer'] === undefined
          ? s3Error(403, 'AccessDenied', `${method} without a payer`)
          : undefined;
      stub.requests.length = 0;
      assert.ok(await plain.copyFrom?.(paying, at('/f'), at('/copy'), { exclusive: false }));
      const copies = stub.requests.filter(({ headers }) => headers['x-amz-copy-source'] !== undefined);
      assert.equal(copies.length, 1);
      assert.match(copies[0]?.headers.authorization ?? '', /SignedHeaders=[^,]*x-amz-request-payer/);
      stub.requests.length = 0;
      assert.ok(await paying.copyFrom?.(plain, at('/f'), at('/again'), { exclusive: false }));
      await store(plain, '/plain', patterned(10));
      const wantsPayer = ({ key }: StubRequest): boolean => key === 'again';
      for (const request of stub.requests.filter(makes))
        assert.equal('x-amz-request-payer' in request.headers, wantsPayer(request), request.key);
    });

    test('a checksum of every body', async () => {
      stub.late = refuseUnsummed;
      await useAll(await open({ checksums: 'always' }));
      const bodies = stub.requests.filter(carriesBytes);
      assert.ok(bodies.length > 0 && bodies.every(({ headers }) => headers['content-md5'] !== undefined));
    });

    test('no checksum, also if the store asks for one', async () => {
      const remote = await open({ checksums: 'never' });
      await useAll(remote);
      const bodies = stub.requests.filter(carriesBytes);
      assert.ok(bodies.length > 0 && bodies.every(({ headers }) => headers['content-md5'] === undefined));
      stub.early = refuseUnsummed;
      stub.requests.length = 0;
      await assert.rejects(store(remote, '/refused', patterned(10)), failsWith('remote_failure'));
      assert.equal(stub.requests.filter(carriesBytes).length, 1);
    });

    test('the refusal of a class or an ACL names the setting', async () => {
      const remote = await open({ storageClass: 'NOT_THERE' });
      stub.late = (request) =>
        makes(request) ? s3Error(400, 'InvalidStorageClass', 'The storage class is not valid') : undefined;
      await assert.rejects(store(remote, '/f', patterned(10)), failsWith('remote_failure', /storage class/));
      stub.late = (request) => (makes(request) ? s3Error(400, 'AccessControlListNotSupported') : undefined);
      await assert.rejects(store(remote, '/f', patterned(10)), failsWith('remote_failure', /takes no ACL/));
    });

    test('and its card shows them', async () => {
      const { facts } = await open({
        storageClass: 'GLACIER_IR',
        acl: 'private',
        requesterPays: true,
        checksums: 'never',
      });
      assert.equal(facts['storageClass'], 'GLACIER_IR');
      assert.equal(facts['acl'], 'private');
      assert.equal(facts['requesterPays'], true);
      assert.equal(facts['checksums'], 'never');
    });
  });

async function drain({ body, whole }: { readonly body?: unknown; readonly whole?: unknown }): Promise<void> {
  assert.ok(body !== undefined || whole !== undefined);
  if (body !== undefined) for await (const _ of body as AsyncIterable<Buffer>);
}
