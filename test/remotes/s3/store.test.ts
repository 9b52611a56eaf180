import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, test } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import type { Remote } from '../../../src/remotes/remote.js';
import { streamOf } from '../../../src/remotes/whole.js';
import { at, connectionTo, failsWith, fetchAll, namesIn, PART, patterned, S3Rig, store } from '../support/s3-rig.js';
import { shareSwift, type SharedSwift } from '../../servers/swift.js';
import { assertFlatMemory } from '../../support/memory.js';
import { entriesOf } from '../../support/seam.js';

const MIB = 1024 * 1024;

/** Behaviour specific to S3, on a real store: OpenStack Swift; remote-suite.ts tests the rest. */
for (const uploader of ['streamed', 'sdk'] as const)
  describe(`s3 on Swift, ${uploader}`, () => {
    let server: SharedSwift;
    let raw: S3Client;
    let rig: S3Rig;
    let remote: Remote;
    const Bucket = `files-${randomUUID()}`;
    const other = `other-${randomUUID()}`;

    before(async () => {
      server = await shareSwift();
      const { endpoint, region, accessKeyId, secretAccessKey } = server;
      raw = new S3Client({
        endpoint,
        region,
        forcePathStyle: true,
        credentials: { accessKeyId, secretAccessKey },
        requestChecksumCalculation: 'WHEN_REQUIRED',
      });
      await raw.send(new CreateBucketCommand({ Bucket }));
      await raw.send(new CreateBucketCommand({ Bucket: other }));
      rig = new S3Rig(connectionTo({ ...server, bucket: Bucket, prefix: 'base/', uploader }));
      remote = await rig.open();
    });

    after(async () => {
      rig?.close();
      raw?.destroy();
      await server?.stop();
    });

    async function stored(path: string, bucket = Bucket): Promise<Buffer> {
      const { Body } = await raw.send(new GetObjectCommand({ Bucket: bucket, Key: `base${path}` }));
      return Buffer.from(await Body!.transformToByteArray());
    }

    async function keysBelow(folder: string): Promise<string[]> {
      const { Contents = [] } = await raw.send(new ListObjectsV2Command({ Bucket, Prefix: `base${folder}` }));
      return Contents.map(({ Key = '' }) => Key.slice('base'.length)).sort();
    }

    async function plant(path: string, text = 'x', bucket = Bucket): Promise<void> {
      await raw.send(new PutObjectCommand({ Bucket: bucket, Key: `base${path}`, Body: text }));
    }

    test('whether a store obeys the condition of an exclusive upload is learned from the first', async () => {
      // The body of AWS's uploader cannot be sent again, so it never tries the condition.
      if (uploader === 'sdk') return;
      // Swift answers 501.
      await store(remote, '/mine/new', patterned(5), {}, { exclusive: true });
      assert.equal(remote.can.exclusiveCreate, false);
      assert.ok(rig.notes.log.some(({ facts }) => facts?.['trait'] === 'exclusivePut' && facts['value'] === 'no'));
    });

    test('objects are stored with what the connection adds; a class that the store does not have is refused', async () => {
      const { connection } = rig;
      const settings = { storageClass: 'STANDARD', acl: 'private', requesterPays: true, checksums: 'always' } as const;
      const own = await rig.open(undefined, { ...connection, ...settings });
      for (const size of [10, 2 * PART + 1]) {
        const bytes = patterned(size);
        await store(own, '/added/known', bytes);
        await store(own, '/added/unknown', bytes, {});
        await own.move(at('/added/unknown'), at('/added/moved'), { replace: true });
        assert.ok((await fetchAll(own, '/added/known')).equals(bytes));
        assert.ok((await fetchAll(own, '/added/moved')).equals(bytes));
      }
      const archived = await rig.open(undefined, { ...connection, storageClass: 'GLACIER' });
      await assert.rejects(
        store(archived, '/added/archived', patterned(10)),
        failsWith('remote_failure', /storage class/),
      );
    });

    test('a store without encryption says so, and keeps nothing', async () => {
      const own = await rig.open(undefined, { ...rig.connection, encryption: { type: 'aes256' } });
      for (const size of [10, 2 * PART + 1]) {
        await assert.rejects(store(own, '/encrypted', patterned(size)), (error: { remote?: { text?: string } }) => {
          assert.match(error.remote?.text ?? '', /encryption is not supported/i);
          return failsWith('remote_failure')(error);
        });
      }
      assert.deepEqual(await keysBelow('/encrypted'), []);
    });

    test('a listing hides the folder marker; a file has the facts of stat, a folder has none', async () => {
      await plant('/pages/file', 'x');
      await plant('/pages/sub/deep/file');
      await plant('/pages/', '');
      assert.deepEqual(await namesIn(remote, '/pages'), ['file', 'sub/']);
      for await (const info of entriesOf(remote.list(at('/pages')))) {
        if (info.isDirectory) assert.deepEqual([info.size, info.modifiedAt.getTime()], [0, 0]);
        else assert.deepEqual(info, await remote.stat(info.path));
      }
    });

    test('keys that are no path are left out of a listing and logged', async () => {
      await plant('/strange/ok');
      await plant('/strange//empty-segment');
      await plant('/strange/tab\there');
      await plant('/strange/./dot');
      assert.deepEqual(await namesIn(remote, '/strange'), ['ok']);
      const reported = rig.notes.log.find(({ facts }) => facts?.['folder'] === '/strange');
      assert.equal(reported?.facts?.['count'], 3);
    });

    test('a folder that is made is one marker, with a time', async () => {
      assert.deepEqual(await remote.makeFolder(at('/made/deep/er')), { created: true });
      assert.deepEqual(await keysBelow('/made/'), ['/made/deep/er/']);
      const { isDirectory, modifiedAt } = await remote.stat(at('/made/deep/er'));
      assert.ok(isDirectory && modifiedAt.getTime() > 0);
    });

    test('a copy between buckets of one login is made by the store; another login is out of reach', async () => {
      const bytes = patterned(2 * PART + 1);
      await store(remote, '/copies/ä source+1.bin', bytes, {});
      const connection = connectionTo({ ...server, bucket: other, prefix: 'base/' });
      const target = await rig.open(undefined, connection);
      const info = await target.copyFrom!(remote, at('/copies/ä source+1.bin'), at('/copied.bin'), { exclusive: true });
      assert.equal(info?.size, bytes.length);
      assert.ok((await stored('/copied.bin', other)).equals(bytes));
      const again = target.copyFrom!(remote, at('/copies/ä source+1.bin'), at('/copied.bin'), { exclusive: true });
      await assert.rejects(again, failsWith('already_exists'));
      const missing = target.copyFrom!(remote, at('/copies/none'), at('/copied.bin'), { exclusive: false });
      await assert.rejects(missing, failsWith('not_found'));
      const folder = target.copyFrom!(remote, at('/copies'), at('/copied.bin'), { exclusive: false });
      await assert.rejects(folder, failsWith('is_a_folder'));
      const itself = await remote.copyFrom!(remote, at('/copies/ä source+1.bin'), at('/copies/ä source+1.bin'), {
        exclusive: false,
      });
      assert.equal(itself?.size, bytes.length);
      const stranger = await rig.open(undefined, { ...connection, accessKeyId: 'someone', secretAccessKey: 'else' });
      assert.equal(await stranger.copyFrom!(remote, at('/copies/x'), at('/y'), { exclusive: false }), undefined);
    });

    test('wrong login, region and bucket are each named, also if HEAD hides the reason', async () => {
      const { connection } = rig;
      const cases = [
        [{ secretAccessKey: 'wrong-secret' }, 'login_refused', /access key/],
        [{ accessKeyId: 'nobody' }, 'login_refused', /access key/],
        [{ region: 'eu-west-1' }, 'login_refused', /"us-east-1".*"eu-west-1"/],
        [{ bucket: 'missing' }, 'remote_failure', /bucket "missing" does not exist/],
      ] as const;
      for (const [change, code, text] of cases) {
        const broken = await rig.open(undefined, { ...connection, ...change });
        const expected = failsWith(code, text);
        await assert.rejects(broken.stat(at('/x')), expected);
        await assert.rejects(namesIn(broken, '/'), expected);
        await assert.rejects(fetchAll(broken, '/x'), expected);
        await assert.rejects(store(broken, '/x', patterned(10)), expected);
        await assert.rejects(store(broken, '/x', patterned(2 * PART), {}), expected);
        await assert.rejects(store(broken, '/x', patterned(4 * PART)), expected);
        const error = await broken.remove(at('/x')).catch((thrown: unknown) => thrown as GatewayError);
        assert.ok(error instanceof GatewayError && !error.clientText.includes('wrong-secret'));
      }
      assert.equal(rig.notes.multiparts.size, 0);
    });

    test('a large upload of unknown length and its download need bounded memory', async () => {
      const block = patterned(MIB);
      await assertFlatMemory(300 * MIB, async (bytes, passed) => {
        const sum = createHash('sha256');
        async function* source(): AsyncGenerator<Buffer> {
          for (let at = 0; at < bytes; at += MIB) {
            // A fresh buffer each time, like from a socket: a part that is kept too long shows in the memory.
            const chunk = Buffer.from(block.subarray(0, bytes - at));
            chunk.writeUInt32BE(at / MIB);
            sum.update(chunk);
            yield chunk;
            passed(chunk.length / 2);
          }
        }
        const writer = await remote.write(at('/large'), {});
        await pipeline(Readable.from(source(), { objectMode: true, highWaterMark: 1 }), writer);
        await writer.commit({ size: bytes });
        const back = createHash('sha256');
        for await (const chunk of streamOf(await remote.read(at('/large')))) {
          back.update(chunk as Buffer);
          passed((chunk as Buffer).length / 2);
        }
        assert.equal(back.digest('hex'), sum.digest('hex'));
      });
      await raw.send(new DeleteObjectCommand({ Bucket, Key: 'base/large' }));
    });
  });
