/**
 * The promises of src/remotes/remote.ts, tested for a protocol on a server, through createRemotes(...).use(...) as
 * operations do it, and checked on the server's own disk. http-suite.ts tests what only HTTP can show.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, test } from 'node:test';
import { GatewayError, hasCode } from '../src/base/errors.js';
import type { Connection } from '../src/connections/connection.js';
import { walk, walkInOrder, type TreeEntry } from '../src/operations/tree/walk.js';
import { WHOLE_BYTES } from '../src/remotes/remote.js';
import type { ExecOptions, ExecResult, FileInfo, Remote, RemoteWriter, WriteOptions } from '../src/remotes/remote.js';
import { gather, putWhole, streamOf, wholeIfShort } from '../src/remotes/whole.js';
import type { Deviations, Disk, ServerEntry } from './servers/catalogue.js';
import type { Misreporting } from './servers/misreporting.js';
import { withCode } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { startProxy } from './support/proxy.js';
import {
  at,
  below,
  chunked,
  connectionOf,
  fill,
  get,
  list,
  namesIn,
  openSeam,
  PART_BYTES,
  portOf,
  put,
  type RemotesOptions,
  through,
  type Seam,
  entriesOf,
} from './support/seam.js';
import { assertRecent } from './support/recent.js';

/** Files of this run are not older. */
const BEGUN = Date.now();
/** Some listings show whole minutes. */
const CLOCKS_APART_MS = 60_000;

const MIB = 1024 * 1024;

export interface SeamServer {
  readonly connection: Connection;
  readonly disk: Disk;
  readonly base?: string;
  readonly deviations: Deviations;
  /** Options of createRemotes, if the server needs others than the gateway's. */
  readonly options?: Partial<RemotesOptions>;
  /** There is no connection to it that could be cut. */
  readonly hasNoWire?: boolean;
  stop(): Promise<void>;
}

/** A server of the catalogue in the form for the seam. */
export function seamOf(entry: ServerEntry): () => Promise<SeamServer> {
  return async () => {
    const server = await entry.start();
    return { ...server, connection: connectionOf(server.connection) };
  };
}

/** All ways in which the operations open a writer. */
const FORMS: readonly ((size: number) => WriteOptions)[] = [
  (size) => ({ size }),
  () => ({}),
  (size) => ({ size, exclusive: true }),
  () => ({ provisional: true }),
  (size) => ({ size, provisional: true }),
];
/** Around the packet sizes of SFTP and the part sizes of S3. */
const SIZES = [
  ...[0, 1, 32_767, 32_768, 32_769, 261_119, 261_120, 261_121, MIB, MIB + 1],
  ...[PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES + 12_345],
];
const NAMES = [
  ...[
    'plain',
    'with blanks',
    '  blanks first',
    'blank at the end ',
    'a  b',
    `q'uo"te`,
    'st*r[1]?',
    '{a,b}',
    '<x>&amp;',
  ],
  ...['.hidden', '-la', '--', '~', '~!@$()=:', '#', '%41 per%20cent%', 'a;b,c', 'type=dir; x', 'pl+us & more', '$(x)'],
  ...['back\\slash', 'ünï-é́', '日本語', '🙂', 'n'.repeat(200)],
];
const FOLDERS = ['a b', '-la', 'st*r', '[x]', '{a,b}', '  lead', 'end ', 'ünï'];
const LEFT = new GatewayError('client_gone', 'the client left');

export function remoteSuite(name: string, start: () => Promise<SeamServer>): void {
  // One after the other: each checks what all have recorded.
  describe(`the seam on ${name}`, { concurrency: 1 }, () => {
    let server: SeamServer;
    let seam: Seam;
    let disk: Disk;
    let count = 0;

    before(async () => {
      server = await start();
      disk = server.disk;
      seam = openSeam(server.connection, server.options);
    });
    after(async () => {
      seam?.close();
      await server?.stop();
    });

    /** A separate folder for each test; it does not exist yet. */
    const newFolder = (): string => `${server.base ?? ''}/case-${++count}`;
    const use: Seam['use'] = (work, changes) => seam.use(work, changes);
    const text = async (file: string): Promise<string> => (await disk.read(file)).toString();
    const nothingNoted = (): void =>
      assert.deepEqual([seam.notes.removeLater, seam.notes.abortLater, [...seam.notes.multiparts]], [[], [], []]);
    /** The entries with final names; hidden ones are uploads under way. */
    const visible = async (folder: string): Promise<string[]> =>
      (await disk.files(folder)).filter((file) => !file.includes('/.ftg-test-') && !file.endsWith('?upload'));

    test('a check shows that the server is there, how fast it answers and its identity', async () => {
      const probed = await seam.use((remote) => remote.probe());
      assert.ok(probed.answerMs >= 0 && probed.answerMs <= Date.now() - BEGUN);
      const proof = await seam.use((remote) => remote.probe().then(() => remote.proof));
      assert.equal(probed.hostKey?.fingerprint, proof.hostKey);
      assert.equal(probed.certificate?.fingerprint, proof.certificate);
      if (probed.hostKey !== undefined) assert.match(probed.hostKey.algorithm, /^(ssh-|ecdsa-|rsa-)/);
      if (probed.certificate !== undefined) assert.ok(probed.certificate.validTo.getTime() > 0);
    });

    describe('writing', () => {
      test('a file appears complete and only under its final name, with missing folders', async () => {
        const folder = newFolder();
        const file = `${folder}/x/y/z/a.txt`;
        await use(async (remote) => {
          const info = await put(remote, file, 'content');
          assert.deepEqual([info.name, info.path, info.size, info.isDirectory], ['a.txt', file, 7, false]);
          assertRecent(info.modifiedAt, BEGUN, CLOCKS_APART_MS);
          const found = await remote.stat(at(file));
          assert.deepEqual({ ...found, modifiedAt: 0 }, { ...info, modifiedAt: 0 });
          const apart = Math.abs(found.modifiedAt.getTime() - info.modifiedAt.getTime());
          assert.ok(apart <= remote.can.timeResolutionMs, `${apart} ms apart`);
          assert.equal((await get(remote, file)).toString(), 'content');
        });
        assert.deepEqual(await disk.files(folder), [file]);
        assert.equal(await text(file), 'content');
        nothingNoted();
      });

      for (const size of SIZES) {
        test(`${size} bytes are stored and read back unchanged in every form`, async () => {
          const folder = newFolder();
          const content = randomBytes(size);
          await Promise.all(
            FORMS.map((form, index) =>
              use(async (remote) => {
                const file = `${folder}/${index}`;
                const options = form(size);
                const info = await put(remote, file, content, options, { exclusive: options.exclusive === true });
                assert.deepEqual([info.path, info.size], [file, size]);
                assert.ok((await get(remote, file)).equals(content), JSON.stringify(options));
              }),
            ),
          );
          for (const index of FORMS.keys()) assert.ok((await disk.read(`${folder}/${index}`)).equals(content));
          assert.equal((await disk.files(folder)).length, FORMS.length);
          nothingNoted();
        });
      }

      test('many small chunks are put together in order', async () => {
        const file = `${newFolder()}/pieces`;
        const pieces = Array.from({ length: 5_000 }, (_, index) => Buffer.from(`${index},`));
        const whole = Buffer.concat(pieces);
        await use(async (remote) => {
          const writer = await remote.write(at(file), { size: whole.length });
          await pipeline(Readable.from(pieces), writer);
          await writer.commit({ size: whole.length });
        });
        assert.ok((await disk.read(file)).equals(whole));
      });

      test('nothing is visible before the commit, the former file is kept, and hidden names were noted', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/old`, 'old');
        for (const size of [10, 2 * MIB, 2 * PART_BYTES]) {
          for (const form of FORMS) {
            await use(async (remote) => {
              const options = form(size);
              const target = options.exclusive === true ? `${folder}/new` : `${folder}/old`;
              seam.notes.folders.length = 0;
              const writer = await remote.write(at(target), options);
              await pipeline(chunked(randomBytes(size)), writer);
              assert.deepEqual(await visible(folder), [`${folder}/old`], JSON.stringify(options));
              assert.equal(await text(`${folder}/old`), 'old');
              for (const hidden of await disk.files(folder)) {
                if (hidden === `${folder}/old`) continue;
                // A store shows an upload before its answer, with the upload's id, arrives.
                if (hidden.endsWith('?upload')) await eventually(() => seam.notes.multiparts.size > 0, hidden);
                else assert.ok(seam.notes.folders.length > 0, hidden);
              }
              await writer.abort(LEFT);
            });
            assert.deepEqual(await disk.files(folder), [`${folder}/old`]);
          }
        }
        nothingNoted();
      });

      test('a hidden file that is removed before its rename: the error says so, and suggests no other setting', async () => {
        const folder = newFolder();
        for (const size of [10, 2 * MIB]) {
          await use(async (remote) => {
            const writer = await remote.write(at(`${folder}/new`), { size });
            await pipeline(chunked(randomBytes(size)), writer);
            const hidden = (await disk.files(folder)).filter((file) => !file.endsWith('?upload'));
            if (hidden.length === 0) return writer.abort(LEFT);
            // A server may still be storing the last bytes: Pure-FTPd renames a file before it deletes it, and keeps a
            // growing one.
            for (const file of hidden) await use((other) => other.remove(at(file), { isLeftover: true }));
            await assert.rejects(writer.commit({ size }), (error: unknown) => {
              assert.ok(error instanceof GatewayError);
              assert.doesNotMatch(error.message, /atomicUploads/);
              return true;
            });
            await writer.abort(LEFT);
          });
        }
        nothingNoted();
      });

      test('a file has the time that it was written with, in every form', async () => {
        const folder = newFolder();
        const modifiedAt = new Date('2024-02-29T12:34:56Z');
        const checkedAt = async (remote: Remote, file: string, info: FileInfo): Promise<void> => {
          const isListed = remote.can.keepsTimes === 'listed';
          const exactTimeOf = ({ keptModifiedAt, modifiedAt: shown }: FileInfo): Date | undefined =>
            isListed ? shown : keptModifiedAt;
          assert.equal(remote.can.keepsTimes, server.deviations.keepsTimes ?? 'listed');
          if (remote.can.keepsTimes === 'no') {
            assertRecent(info.modifiedAt, BEGUN, CLOCKS_APART_MS);
            return;
          }
          assert.deepEqual(exactTimeOf(info), modifiedAt);
          assert.deepEqual(exactTimeOf(await remote.stat(at(file))), modifiedAt);
          const opened = await remote.read(at(file));
          await streamOf(opened).toArray();
          assert.deepEqual(exactTimeOf(opened.info), modifiedAt);
          assert.deepEqual(await disk.modifiedAt(file), modifiedAt);
          if (!isListed) return;
          const listed = (await list(remote, folder)).find(({ path }) => path === file);
          // For a former year LIST shows only the day, and reports that.
          const { modifiedAt: shown, timeResolutionMs = remote.can.timeResolutionMs } = listed ?? assert.fail(file);
          const apart = modifiedAt.getTime() - shown.getTime();
          assert.ok(apart >= 0 && apart < timeResolutionMs, `${shown.toISOString()} ± ${timeResolutionMs}`);
        };
        for (const size of [10, 2 * MIB, 2 * PART_BYTES + 1]) {
          const content = randomBytes(size);
          for (const [index, form] of FORMS.entries()) {
            await use(async (remote) => {
              const file = `${folder}/${size}-${index}`;
              const options = form(size);
              const commit = { exclusive: options.exclusive === true, modifiedAt };
              // Fields after the content are known only at the commit.
              const known = options.provisional === true ? {} : { modifiedAt };
              const info = await put(remote, file, content, { ...options, ...known }, commit);
              await checkedAt(remote, file, info);
              assert.equal(info.size, size);
            });
          }
        }
        const file = `${folder}/whole`;
        await use(async (remote) =>
          checkedAt(remote, file, await putWhole(remote, at(file), Buffer.from('x'), { modifiedAt })),
        );
        await use(
          async (remote) =>
            checkedAt(remote, file, await put(remote, file, 'in place', { modifiedAt }, { modifiedAt })),
          { connection: { ...server.connection, atomicUploads: false } },
        );
        assert.equal(await text(file), 'in place');
        await use((remote) => put(remote, file, 'x'));
        await use(async (remote) => {
          const { keptModifiedAt, modifiedAt: shown } = await remote.stat(at(file));
          assert.equal(keptModifiedAt, undefined);
          assertRecent(shown, BEGUN, CLOCKS_APART_MS);
        });
        nothingNoted();
      });

      test('a file that is there gets another time, and keeps its bytes', async () => {
        const [folder, modifiedAt] = [newFolder(), new Date('2023-03-04T05:06:07Z')];
        await use(async (remote) => {
          await put(remote, `${folder}/a`, 'as it was');
          if (remote.setTime === undefined) return;
          const info = await remote.setTime(at(`${folder}/a`), modifiedAt);
          assert.equal(info.size, 9);
          const { keptModifiedAt, modifiedAt: shown } = await remote.stat(at(`${folder}/a`));
          if (remote.can.keepsTimes === 'no') assertRecent(shown, BEGUN, CLOCKS_APART_MS);
          else assert.deepEqual(keptModifiedAt ?? shown, modifiedAt);
          await assert.rejects(remote.setTime(at(`${folder}/none`), modifiedAt), withCode('not_found'));
          await assert.rejects(remote.setTime(at(folder), modifiedAt), withCode('is_a_folder'));
        });
        assert.equal(await text(`${folder}/a`), 'as it was');
      });

      test('a file is replaced, by a shorter one too', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/a`, 'the old and longer content');
        await use((remote) => put(remote, `${folder}/a`, 'new'));
        assert.equal(await text(`${folder}/a`), 'new');
        assert.deepEqual(await disk.files(folder), [`${folder}/a`]);
      });

      test('exclusive refuses an existing file in every form, and keeps it', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/mine`, 'old');
        for (const size of [10, 2 * MIB, 2 * PART_BYTES]) {
          for (const form of FORMS) {
            await use((remote) =>
              assert.rejects(
                put(remote, `${folder}/mine`, randomBytes(size), form(size), { exclusive: true }),
                withCode('already_exists'),
              ),
            );
          }
        }
        assert.equal(await text(`${folder}/mine`), 'old');
        assert.deepEqual(await disk.files(folder), [`${folder}/mine`]);
        nothingNoted();
      });

      test('with two exclusive writers of one name one wins completely, and can.exclusiveCreate says whether always', async () => {
        const folder = newFolder();
        // The server's behaviour is learned here, if it must be.
        await use((remote) => put(remote, `${folder}/probe`, '', {}, { exclusive: true }));
        await use((remote) => put(remote, `${folder}/probe`, '', {}, { exclusive: true })).catch(() => undefined);
        const isRaced = server.deviations.exclusiveIsRaced !== undefined;
        assert.equal(await use(async (remote) => remote.can.exclusiveCreate), !isRaced);
        const contents = [Buffer.alloc(50_000, 'a'), Buffer.alloc(50_000, 'b')];
        let ready = 0;
        let go: () => void = () => undefined;
        const both = new Promise<void>((resolve) => (go = resolve));
        const results = await Promise.allSettled(
          contents.map((content) =>
            use(async (remote) => {
              const writer = await remote.write(at(`${folder}/one`), { exclusive: true });
              await pipeline(chunked(content), writer);
              if (++ready === 2) go();
              await both;
              try {
                return await writer.commit({ size: content.length, exclusive: true });
              } finally {
                await writer.abort(LEFT);
              }
            }),
          ),
        );
        const won = results.filter(({ status }) => status === 'fulfilled').length;
        assert.ok(won === 1 || (isRaced && won === 2), JSON.stringify(results));
        for (const result of results) if (result.status === 'rejected') withCode('already_exists')(result.reason);
        const landed = await disk.read(`${folder}/one`);
        assert.ok(contents.some((content, index) => landed.equals(content) && results[index]?.status === 'fulfilled'));
        assert.deepEqual(await disk.files(folder), [`${folder}/one`, `${folder}/probe`]);
      });

      test('two writers that replace one name leave one of the two files', async () => {
        const folder = newFolder();
        const contents = [Buffer.alloc(90_000, 'a'), Buffer.alloc(90_000, 'b')];
        await Promise.allSettled(contents.map((content) => use((remote) => put(remote, `${folder}/one`, content))));
        const landed = await disk.read(`${folder}/one`);
        assert.ok(contents.some((content) => landed.equals(content)));
        assert.deepEqual(await disk.files(folder), [`${folder}/one`]);
      });

      test('a size that differs at the commit publishes nothing', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/a`, 'old');
        for (const size of [5, 2 * MIB, 2 * PART_BYTES]) {
          for (const form of FORMS) {
            for (const announced of [size - 1, size + 1]) {
              await use((remote) =>
                assert.rejects(
                  put(
                    remote,
                    `${folder}/a`,
                    randomBytes(size),
                    { ...form(size), exclusive: false },
                    { size: announced },
                  ),
                  withCode('size_mismatch'),
                ),
              );
            }
          }
        }
        assert.equal(await text(`${folder}/a`), 'old');
        assert.deepEqual(await disk.files(folder), [`${folder}/a`]);
        nothingNoted();
      });

      test('a source with more or fewer bytes than announced', async () => {
        const folder = newFolder();
        const binds = server.deviations.announcedSizeBinds !== undefined;
        for (const size of [100, 2 * MIB, 3 * PART_BYTES]) {
          for (const sent of [size - 1, size + 1]) {
            await use(async (remote) => {
              const writing = put(remote, `${folder}/a`, randomBytes(sent), { size });
              if (binds) await assert.rejects(writing, withCode('size_mismatch'));
              else assert.equal((await writing).size, sent);
            });
          }
        }
        assert.deepEqual(await disk.files(folder), binds ? [] : [`${folder}/a`]);
        nothingNoted();
      });

      test('a source that fails half way leaves only the former file', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/a`, 'old');
        for (const bytes of [50, 2 * PART_BYTES + 100]) {
          for (const form of FORMS) {
            await use(async (remote) => {
              const writer = await remote.write(at(`${folder}/a`), { ...form(3 * PART_BYTES), exclusive: false });
              async function* dies(): AsyncGenerator<Buffer> {
                yield randomBytes(bytes);
                throw LEFT;
              }
              await assert.rejects(pipeline(Readable.from(dies()), writer), withCode('client_gone'));
              await Promise.all([writer.abort(LEFT), writer.abort(LEFT)]);
            });
          }
        }
        assert.equal(await text(`${folder}/a`), 'old');
        assert.deepEqual(await disk.files(folder), [`${folder}/a`]);
        nothingNoted();
      });

      const POINTS: Readonly<Record<string, (writer: RemoteWriter) => Promise<unknown>>> = {
        'before the first byte': async () => undefined,
        'between two chunks': (writer) => new Promise((written) => writer.write(Buffer.alloc(100), written)),
        'after the last byte': (writer) => pipeline(chunked('x'), writer),
        'after a commit that failed': async (writer) => {
          await pipeline(chunked('x'), writer);
          await assert.rejects(writer.commit({ size: 2 }));
        },
      };
      for (const [when, reach] of Object.entries(POINTS)) {
        test(`an abort ${when} leaves nothing, also when repeated`, async () => {
          const folder = newFolder();
          await disk.write(`${folder}/a`, 'old');
          for (const options of [{}, { provisional: true }, { isHidden: true }]) {
            const target = 'isHidden' in options ? `${folder}/.ftg-test-put-aside.a` : `${folder}/a`;
            await use(async (remote) => {
              const writer = await remote.write(at(target), options);
              // Without an error listener an abort between two chunks would end the process.
              writer.on('error', () => undefined);
              // Some take a chunk only when the next one arrives: either the point is reached, or the abort comes
              // first.
              const reached = reach(writer).catch((error: unknown) => error);
              if (when !== 'between two chunks') assert.equal(await reached, undefined);
              await writer.abort(LEFT);
              await writer.abort(LEFT);
            });
          }
          assert.equal(await text(`${folder}/a`), 'old');
          assert.deepEqual(await disk.files(folder), [`${folder}/a`]);
          nothingNoted();
        });
      }

      test('an abort after the commit changes nothing', async () => {
        const folder = newFolder();
        await use(async (remote) => {
          const writer = await remote.write(at(`${folder}/a`), {});
          await fill(writer, 'x');
          await writer.abort(LEFT);
        });
        assert.deepEqual(await disk.files(folder), [`${folder}/a`]);
      });

      test('a name that is decided at the end', async () => {
        const folder = newFolder();
        for (const size of [10, 2 * PART_BYTES]) {
          const content = randomBytes(size);
          await use(async (remote) => {
            const writer = await remote.write(at(`${folder}/draft`), { provisional: true });
            await pipeline(chunked(content), writer);
            const path = at(`${folder}/other/final-${size}`);
            const info = await writer.commit({ size, path });
            assert.deepEqual([info.path, info.name, info.size], [path, `final-${size}`, size]);
          });
          assert.ok((await disk.read(`${folder}/other/final-${size}`)).equals(content));
        }
        const final = [`${folder}/other/final-10`, `${folder}/other/final-${2 * PART_BYTES}`];
        assert.deepEqual(await disk.files(folder), final);
        nothingNoted();
      });

      test('the login folder may be requested during a provisional upload', async () => {
        const folder = newFolder();
        await use(async (remote) => {
          const writer = await remote.write(at(`${folder}/unsettled`), { provisional: true });
          writer.write('con');
          await remote.home();
          writer.end('tent');
          await once(writer, 'finish');
          await writer.commit({ size: 7, path: at(`${folder}/settled`) });
        });
        assert.equal(await text(`${folder}/settled`), 'content');
      });

      test('bytes for a hidden name are written to it at once', async () => {
        const folder = newFolder();
        const file = `${folder}/.ftg-test-aside.a`;
        await use(async (remote) => {
          const info = await put(remote, file, 'aside', { isHidden: true });
          assert.deepEqual([info.path, info.size], [file, 5]);
        });
        assert.deepEqual(await disk.files(folder), [file]);
      });

      test('a connection that writes in place', async () => {
        const folder = newFolder();
        const connection: Connection = { ...server.connection, atomicUploads: false };
        await disk.write(`${folder}/a`, 'the old and longer content');
        await disk.write(`${folder}/sub/b`, 'b');
        await use(
          async (remote) => {
            const writer = await remote.write(at(`${folder}/half`), {});
            writer.on('error', () => undefined);
            writer.write(Buffer.alloc(100_000));
            await writer.abort(LEFT);
          },
          { connection },
        );
        await use(
          async (remote) => {
            await put(remote, `${folder}/a`, 'short');
            await put(remote, `${folder}/new/folder/a`, 'made');
            if (server.deviations.inPlaceIsNeverExclusive === undefined) {
              const exclusive = put(remote, `${folder}/a`, 'other', { exclusive: true }, { exclusive: true });
              await assert.rejects(exclusive, withCode('already_exists'));
            }
            await assert.rejects(put(remote, `${folder}/sub`, 'x'), withCode('is_a_folder'));
          },
          { connection },
        );
        assert.equal(await text(`${folder}/a`), 'short');
        assert.equal(await text(`${folder}/new/folder/a`), 'made');
        assert.deepEqual(await disk.files(folder), [`${folder}/a`, `${folder}/new/folder/a`, `${folder}/sub/b`]);
      });

      test('a writer slows down a faster source', async () => {
        const file = `${newFolder()}/large`;
        const chunk = randomBytes(64 * 1024);
        await use(async (remote) => {
          const writer = await remote.write(at(file), {});
          let most = 0;
          for (let left = 512; left > 0; left--) {
            const hasRoom = writer.write(chunk);
            most = Math.max(most, writer.writableLength);
            if (!hasRoom) await once(writer, 'drain');
          }
          writer.end();
          await once(writer, 'finish');
          await writer.commit({ size: 512 * chunk.length });
          assert.ok(most <= 8 * MIB, `${most} bytes waited`);
        });
      });

      test('appending adds to the end and returns the new size', async () => {
        const folder = newFolder();
        const file = `${folder}/log`;
        await disk.write(file, 'one\n');
        const more = `two\n${'x'.repeat(400_000)}`;
        await use(async (remote) => {
          const writer = await remote.append?.(at(file));
          if (server.deviations.noAppend !== undefined) return assert.equal(writer, undefined);
          const info = await fill(writer ?? assert.fail('it cannot append'), more);
          assert.deepEqual([info.path, info.size], [file, 400_008]);
          assert.equal(await text(file), `one\n${more}`);
        });
        if (server.deviations.noAppend !== undefined) return;
        await use(async (remote) => {
          const cut = (await remote.append?.(at(file))) ?? assert.fail();
          cut.on('error', () => undefined);
          cut.write(Buffer.alloc(50_000));
          await cut.abort(LEFT);
        });
        assert.ok((await text(file)).startsWith(`one\n${more}`));
        await use(async (remote) => {
          const wrong = (await remote.append?.(at(file))) ?? assert.fail();
          await assert.rejects(fill(wrong, 'x', { size: 2 }), withCode('size_mismatch'));
          await assert.rejects(async () => remote.append?.(at(`${folder}/none`)), withCode('not_found'));
          await assert.rejects(async () => remote.append?.(at(folder)), withCode('is_a_folder'));
        });
        assert.deepEqual(await disk.files(folder), [file]);
      });
    });

    describe('short files in one piece', () => {
      for (const size of [0, 1, 4096, WHOLE_BYTES]) {
        test(`${size} bytes are stored and read back unchanged, with missing folders`, async () => {
          const folder = newFolder();
          const content = randomBytes(size);
          for (const exclusive of [true, false]) {
            const file = `${folder}/x/y/${size}`;
            await use(async (remote) => {
              const got: string[] = [];
              const info = await putWhole(remote, at(file), content, {
                exclusive,
                opened: () => got.push('opened'),
                sent: () => got.push('sent'),
              });
              assert.deepEqual([info.name, info.path, info.size, info.isDirectory], [`${size}`, file, size, false]);
              assert.deepEqual(got, ['opened', 'sent']);
              const found = await remote.stat(at(file));
              const apart = Math.abs(found.modifiedAt.getTime() - info.modifiedAt.getTime());
              assert.ok(apart <= remote.can.timeResolutionMs, `${apart} ms apart`);
              for (const select of [undefined, () => undefined]) {
                const opened = await remote.read(at(file), select);
                assert.equal(opened.info.size, size);
                assert.ok((opened.whole ?? Buffer.concat(await streamOf(opened).toArray())).equals(content));
              }
              if (size < 10) return;
              const part = await get(remote, file, { start: 3, end: size - 2 });
              assert.ok(part.equals(content.subarray(3, size - 1)));
            });
            assert.ok((await disk.read(file)).equals(content));
            assert.deepEqual(await disk.files(folder), [file]);
            if (exclusive) await use((remote) => remote.remove(at(file)));
          }
          nothingNoted();
        });
      }

      test('a shorter one replaces a longer one; exclusive, and a folder there, refuse', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/a`, 'the old and longer content');
        await disk.write(`${folder}/sub/b`, 'below');
        const bytes = Buffer.from('new');
        await use(async (remote) => {
          await assert.rejects(
            putWhole(remote, at(`${folder}/a`), bytes, { exclusive: true }),
            withCode('already_exists'),
          );
          await assert.rejects(putWhole(remote, at(`${folder}/sub`), bytes), withCode('is_a_folder'));
          await assert.rejects(putWhole(remote, at('/'), bytes), withCode('is_a_folder'));
        });
        assert.equal(await text(`${folder}/a`), 'the old and longer content');
        await use((remote) => putWhole(remote, at(`${folder}/a`), bytes));
        assert.equal(await text(`${folder}/a`), 'new');
        assert.deepEqual(await disk.files(folder), [`${folder}/a`, `${folder}/sub/b`]);
        nothingNoted();
      });

      for (const moment of ['opened', 'sent'] as const) {
        test(`the end of the operation when it is ${moment}: only the former file is left`, async () => {
          const folder = newFolder();
          await disk.write(`${folder}/a`, 'old');
          const ender = new AbortController();
          const putting = use(
            (remote) => putWhole(remote, at(`${folder}/a`), Buffer.from('new'), { [moment]: () => ender.abort(LEFT) }),
            { signal: ender.signal },
          );
          await assert.rejects(putting, withCode('client_gone'));
          assert.equal(await text(`${folder}/a`), 'old');
          assert.deepEqual(await disk.files(folder), [`${folder}/a`]);
          nothingNoted();
        });

        test(`a caller that throws when it is ${moment} leaves nothing behind either`, async () => {
          const folder = newFolder();
          await disk.write(`${folder}/a`, 'old');
          const fail = (): never => {
            throw LEFT;
          };
          const putting = use((remote) => putWhole(remote, at(`${folder}/a`), Buffer.from('new'), { [moment]: fail }));
          await assert.rejects(putting, withCode('client_gone'));
          assert.equal(await text(`${folder}/a`), 'old');
          assert.deepEqual(await disk.files(folder), [`${folder}/a`]);
          nothingNoted();
        });
      }
    });

    describe('reading', () => {
      test('ranges, chosen by the facts of the file', async () => {
        const file = `${newFolder()}/r`;
        const content = randomBytes(700_000);
        await disk.write(file, content);
        for (const [start, end] of [
          ...([[0, 0] as const, [0, 699_999], [699_999, 699_999], [300_000, 650_000]] as const),
          ...([[10, 40_000] as const, [12_345, 699_999]] as const),
        ]) {
          await use(async (remote) => {
            const sizes: number[] = [];
            const opened = await remote.read(at(file), ({ size }) => {
              sizes.push(size);
              return { start, end };
            });
            assert.deepEqual([opened.range, opened.info.size, sizes], [{ start, end }, 700_000, [700_000]]);
            const part = Buffer.concat((await streamOf(opened).toArray()) as Buffer[]);
            assert.ok(part.equals(content.subarray(start, end + 1)), `${start}-${end}`);
          });
        }
        await use(async (remote) => {
          const whole = await remote.read(at(file), () => undefined);
          assert.equal(whole.range, undefined);
          assert.ok(Buffer.concat((await streamOf(whole).toArray()) as Buffer[]).equals(content));
        });
      });

      test('a choice that throws opens nothing, and its error is passed on', async () => {
        const file = `${newFolder()}/r`;
        await disk.write(file, 'text');
        const refuse = (): never => {
          throw new GatewayError('bad_range', 'outside');
        };
        await use(async (remote) => {
          for (let tries = 0; tries < 10; tries++) {
            await assert.rejects(remote.read(at(file), refuse), withCode('bad_range'));
          }
          assert.equal((await get(remote, file)).toString(), 'text');
        });
      });

      test('a body that is no longer wanted releases what it held', async () => {
        const file = `${newFolder()}/large`;
        await disk.write(file, randomBytes(5_000_000));
        // More often than there are sessions, or sockets of a session.
        for (let tries = 0; tries < 12; tries++) {
          await use(async (remote) => {
            const body = streamOf(await remote.read(at(file)));
            if (tries % 2 === 0) await once(body, 'readable');
            body.destroy();
            await once(body, 'close');
          });
        }
        assert.equal(await use(async (remote) => (await get(remote, file)).length), 5_000_000);
      });

      test('a file that shrinks while it is read is an error, not a short file', async () => {
        const file = `${newFolder()}/s`;
        const content = randomBytes(24_000_000);
        await disk.write(file, content);
        await use(async (remote) => {
          const body = streamOf(await remote.read(at(file)));
          // It may fail before more is requested.
          body.on('error', () => undefined);
          await once(body, 'readable');
          await disk.write(file, 'short');
          const read = await body.toArray().catch((error: unknown) => {
            const got = hasCode(error, 'connection_lost', 'remote_failure');
            const mayTell = server.deviations.tellsOfACutFile !== undefined;
            assert.ok(hasCode(error, 'size_mismatch') || (mayTell && got), String(error));
          });
          if (server.deviations.readsWhatItOpened === undefined) assert.equal(read, undefined);
          else if (read !== undefined) assert.ok(Buffer.concat(read as Buffer[]).equals(content));
        });
      });

      test('consumers of every rhythm get all of it, and slow ones slow down the server', async () => {
        const file = `${newFolder()}/f`;
        const content = randomBytes(6 * MIB + 1);
        await disk.write(file, content);
        for (const bytes of [1, 64 << 10, 600 << 10, 2 * MIB]) {
          const hash = createHash('sha256');
          let most = 0;
          await use(async (remote) => {
            const body = streamOf(await remote.read(at(file)));
            const sink = new Writable({
              highWaterMark: bytes,
              write(chunk: Buffer, _encoding, taken) {
                most = Math.max(most, body.readableLength);
                hash.update(chunk);
                if (chunk.length % 3 === 0) taken();
                else setImmediate(taken);
              },
            });
            await pipeline(body, sink);
          });
          assert.equal(hash.digest('hex'), createHash('sha256').update(content).digest('hex'), `${bytes}`);
          assert.ok(most <= 3.75 * MIB, `${most} bytes waited`);
        }
      });

      test('many transfers at once over the sessions of one connection', async () => {
        const folder = newFolder();
        const contents = Array.from({ length: 6 }, () => randomBytes(3 * MIB + 11));
        await Promise.all(
          contents.map((content, index) =>
            use(async (remote) => {
              await put(remote, `${folder}/${index}`, content);
              assert.ok((await get(remote, `${folder}/${index}`)).equals(content));
            }),
          ),
        );
        assert.equal((await disk.files(folder)).length, contents.length);
      });
    });

    describe('looking', () => {
      test('absent, file and folder are distinguished', async () => {
        const folder = newFolder();
        const file = at(`${folder}/file`);
        await disk.write(file, 'x');
        await use(async (remote) => {
          const none = at(`${folder}/none`);
          const absent: Record<string, () => Promise<unknown>> = {
            stat: () => remote.stat(none),
            'stat below nothing': () => remote.stat(at(`${folder}/no/where`)),
            list: () => list(remote, none),
            read: () => get(remote, none),
            'read with a choice': async () => remote.read(none, () => undefined),
            'read below nothing': () => get(remote, `${folder}/no/where`),
            remove: () => remote.remove(none),
            move: () => remote.move(none, at(`${folder}/other`), { replace: true }),
          };
          for (const [what, ask] of Object.entries(absent)) {
            await assert.rejects(ask(), withCode('not_found'), what);
          }
          const belowAFile = server.deviations.failsBelowAFile === undefined ? 'not_found' : 'remote_failure';
          await assert.rejects(remote.stat(at(`${file}/below`)), withCode(belowAFile));
          await assert.rejects(list(remote, file), withCode('not_a_folder'));
          await assert.rejects(get(remote, folder), withCode('is_a_folder'));
          await assert.rejects(
            remote.read(at(folder), () => undefined),
            withCode('is_a_folder'),
          );
          const { name, path, size, isDirectory } = await remote.stat(at(folder));
          assert.deepEqual([name, path, size, isDirectory], [folder.split('/').at(-1), folder, 0, true]);
          assert.equal((await remote.stat(at('/'))).isDirectory, true);
        });
        assert.deepEqual(await disk.files(folder), [file]);
      });

      test('a listing shows one level, with the facts of stat for each entry', async () => {
        const folder = newFolder();
        for (const [file, content] of Object.entries({ '.dot': '1', file: '1234', 'sub/deep/f': 'x' })) {
          await disk.write(`${folder}/${file}`, content);
        }
        await use(async (remote) => {
          const found = await list(remote, folder);
          assert.deepEqual(
            found.map(({ name, path, size, isDirectory }) => [name, path, size, isDirectory]),
            [
              ['.dot', `${folder}/.dot`, 1, false],
              ['file', `${folder}/file`, 4, false],
              ['sub', `${folder}/sub`, 0, true],
            ],
          );
          for (const { modifiedAt, timeResolutionMs: _, mode, owner: _owner, group: _group, ...info } of found) {
            const { modifiedAt: got, timeResolutionMs: __, ...single } = await remote.stat(info.path);
            // Names of owners, and the lines of Unix, are only in listings.
            const { mode: sameMode = mode, owner: _number, group: _numberToo, ...facts } = single;
            assert.deepEqual(info, facts);
            assert.equal(sameMode, mode, info.name);
            const apart = Math.abs(got.getTime() - modifiedAt.getTime());
            assert.ok(apart <= remote.can.timeResolutionMs, `${info.name}: ${apart} ms apart`);
            if (!info.isDirectory) assertRecent(got, BEGUN, CLOCKS_APART_MS);
          }
        });
      });

      test('links are followed', async () => {
        if (disk.link === undefined || server.deviations.hidesLinks !== undefined) return;
        const folder = newFolder();
        await disk.write(`${folder}/file`, '12345');
        await disk.write(`${folder}/sub/f`, '');
        await disk.link('file', `${folder}/to file`);
        await disk.link('sub', `${folder}/to folder`);
        await disk.link('nowhere', `${folder}/to nothing`);
        await use(async (remote) => {
          const found = (await list(remote, folder)).map(({ name, size, isDirectory }) => [name, isDirectory || size]);
          const got = Object.fromEntries(found) as Record<string, unknown>;
          const { 'to nothing': _, ...others } = got;
          assert.deepEqual(others, { file: 5, sub: true, 'to file': 5, 'to folder': true });
          // MLSD and SIZE do not show it.
          assert.equal('to nothing' in got, server.connection.type === 'sftp');
          const { size, isDirectory } = await remote.stat(at(`${folder}/to file`));
          assert.deepEqual([size, isDirectory], [5, false]);
          assert.equal((await remote.stat(at(`${folder}/to folder`))).isDirectory, true);
          assert.equal((await get(remote, `${folder}/to file`)).toString(), '12345');
        });
      });

      test('a tree is walked completely, in any order, and from after any entry; a link to a folder is not entered', async () => {
        const folder = newFolder();
        const files = ['a b/x', 'a/b/c/d', 'a/é', 'a.b', 'a0', 'B/-', '.h/x'];
        for (const file of files) await disk.write(`${folder}/${file}`, 'four');
        const folders = ['.h/', 'B/', 'a b/', 'a/', 'a/b/', 'a/b/c/'];
        const links = disk.link === undefined || server.deviations.hidesLinks !== undefined ? [] : ['a/loop/'];
        if (links.length > 0) await disk.link?.('..', `${folder}/a/loop`);
        const expected = [...files, ...folders, ...links].sort((a, b) =>
          Buffer.compare(Buffer.from(a), Buffer.from(b)),
        );
        await use(async (remote) => {
          const keysOf = async (entries: AsyncIterable<TreeEntry>): Promise<string[]> => {
            const keys: string[] = [];
            for await (const { key, path, file } of entries) {
              assert.equal(path, `${folder}/${key.replace(/\/$/, '')}`);
              assert.equal(file.size, file.isDirectory ? 0 : 4, key);
              keys.push(key);
            }
            return keys;
          };
          const root = at(folder);
          assert.deepEqual((await keysOf(walk(remote, root, { isDeep: true }))).sort(), expected.toSorted());
          assert.deepEqual(await keysOf(walkInOrder(remote, root, { isDeep: true })), expected);
          for (const [index, after] of expected.entries()) {
            const rest = await keysOf(walkInOrder(remote, root, { isDeep: true, after }));
            assert.deepEqual(rest, expected.slice(index + 1), after);
          }
          const level = expected.filter((key) => /^[^/]+\/?$/.test(key));
          const [folderNames, fileNames] = [true, false].map((is) => level.filter((key) => key.endsWith('/') === is));
          const sorted = [
            ...folderNames!
              .map((key) => key.slice(0, -1))
              .sort()
              .map((key) => `${key}/`),
            ...fileNames!,
          ];
          for (const index of sorted.keys()) {
            const rest = await keysOf(walkInOrder(remote, root, { isDeep: false, after: sorted[index] }));
            assert.deepEqual(rest, sorted.slice(index + 1), sorted[index]);
          }
          await assert.rejects(keysOf(walk(remote, at(`${folder}/absent`), { isDeep: true })), withCode('not_found'));
          const ofFile = keysOf(walkInOrder(remote, at(`${folder}/a0`), { isDeep: true }));
          await assert.rejects(ofFile, withCode('not_a_folder'));
        });
      });

      test('a folder of many names is listed completely, also after an interrupted listing; an empty one is empty', async () => {
        const folder = newFolder();
        // More than three pages: those of the store are short.
        const length = server.connection.type === 's3' ? 130 : 1_000;
        const names = Array.from({ length }, (_, index) => `n${String(index).padStart(4, '0')}`);
        for (let start = 0; start < names.length; start += 50) {
          await Promise.all(names.slice(start, start + 50).map((file) => disk.write(`${folder}/${file}`, '')));
        }
        await use(async (remote) => {
          for await (const { name } of entriesOf(remote.list(at(folder)))) {
            assert.ok(name);
            break;
          }
        });
        await use(async (remote) => {
          assert.deepEqual(await namesIn(remote, folder), names);
          await remote.makeFolder(at(`${folder}-empty`));
          assert.deepEqual(await list(remote, `${folder}-empty`), []);
        });
      });

      test('names of every kind work in every call', async () => {
        const folder = newFolder();
        const refuses = server.deviations.refusesName;
        const kept = NAMES.filter((file) => refuses?.(file) !== true);
        const all = (work: (remote: Remote, file: string) => Promise<void>, names = kept): Promise<unknown> =>
          Promise.all(names.map((file) => use((remote) => work(remote, file))));
        await all(async (remote, file) => {
          const path = `${folder}/${file}`;
          if (!kept.includes(file)) {
            await assert.rejects(put(remote, path, file), withCode('bad_path'), file);
            const source = `${folder}-kept/${NAMES.indexOf(file)}`;
            await put(remote, source, file);
            await assert.rejects(remote.move(at(source), at(path), { replace: false }), GatewayError, file);
            return assert.equal((await get(remote, source)).toString(), file);
          }
          const { name } = await put(remote, path, file);
          assert.equal(name, file);
          assert.equal((await get(remote, path)).toString(), file);
          assert.deepEqual([(await remote.stat(at(path))).name, await text(path)], [file, file]);
        }, NAMES);
        assert.deepEqual(await use((remote) => namesIn(remote, folder)), kept.toSorted());
        assert.deepEqual(await disk.files(folder), kept.map((file) => `${folder}/${file}`).toSorted());
        await all(async (remote, file) => {
          const moved = at(`${folder}-moved/${file}`);
          await remote.move(at(`${folder}/${file}`), moved, { replace: false });
          assert.equal((await get(remote, moved)).toString(), file);
          await remote.remove(moved);
        });
        assert.deepEqual(await disk.files(`${folder}-moved`), []);
      });

      test('folders of every name are made, listed and moved', async () => {
        const folder = newFolder();
        await use(async (remote) => {
          for (const name of FOLDERS) {
            const path = `${folder}/${name}`;
            if (server.deviations.refusesFolder?.(name) === true) {
              await assert.rejects(remote.makeFolder(at(path)), withCode('bad_path'));
              continue;
            }
            await put(remote, `${path}/f`, 'x');
            assert.deepEqual(
              (await list(remote, path)).map((entry) => entry.path),
              [`${path}/f`],
            );
            const info = await remote.stat(at(path));
            assert.deepEqual([info.name, info.isDirectory, info.size], [name, true, 0]);
            await remote.move(at(path), at(`${folder}-moved/deep er/${name}`), { replace: false });
            assert.deepEqual(await namesIn(remote, `${folder}-moved/deep er/${name}`), ['f']);
          }
        });
      });

      test('everything stays below the root of the connection', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/inner/file`, 'x');
        await disk.write(`${folder}-beside/file`, 'x');
        await use(
          async (remote) => {
            assert.deepEqual(
              (await list(remote, '/')).map(({ path }) => path),
              ['/inner'],
            );
            assert.equal(await remote.home(), '/');
            await put(remote, '/other', 'y');
            await assert.rejects(remote.stat(at(`${folder}-beside/file`)), withCode('not_found'));
          },
          { connection: below(server.connection, folder) },
        );
        assert.equal(await text(`${folder}/other`), 'y');
      });

      test('the known facts about the server are available for people to read', async () => {
        await use(async (remote) => {
          await remote.stat(at('/'));
          const home = await remote.stat(await remote.home());
          assert.equal(home.isDirectory, true);
          assert.ok(Object.keys(remote.facts).length > 0);
          assert.deepEqual(JSON.parse(JSON.stringify(remote.facts)), remote.facts);
          assert.ok(remote.can.timeResolutionMs > 0 && remote.can.statTimeResolutionMs > 0);
        });
      });
    });

    describe('changing', () => {
      test('only a file replaces a file, and a parent must be a folder', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/f`, 'file');
        await disk.write(`${folder}/full/inside`, 'inside');
        await use(async (remote) => {
          await remote.makeFolder(at(`${folder}/empty`));
          for (const place of ['full', 'empty']) {
            for (const size of [0, 10, 2 * MIB]) {
              for (const options of [{ size }, {}]) {
                const writing = put(remote, `${folder}/${place}`, randomBytes(size), options);
                await assert.rejects(writing, withCode('is_a_folder'), `${place} ${size}`);
              }
            }
          }
          await assert.rejects(put(remote, '/', 'x'), withCode('is_a_folder'));
          for (const place of [`${folder}/f/x`, `${folder}/f/deeper/x`]) {
            for (const size of [10, 2 * MIB]) {
              await assert.rejects(put(remote, place, randomBytes(size)), withCode('not_a_folder'), `${place} ${size}`);
            }
            await assert.rejects(remote.makeFolder(at(place)), withCode('not_a_folder'));
          }
        });
        assert.deepEqual(await disk.files(folder), [`${folder}/f`, `${folder}/full/inside`]);
        assert.equal(await text(`${folder}/f`), 'file');
        nothingNoted();
      });

      test('moving files', async () => {
        const folder = newFolder();
        const [a, b, there] = [at(`${folder}/a`), at(`${folder}/b`), at(`${folder}/to/new/place`)];
        const content = randomBytes(2 * PART_BYTES);
        await disk.write(a, content);
        await disk.write(b, 'b');
        await disk.write(`${folder}/sub/f`, '');
        await use(async (remote) => {
          await assert.rejects(remote.move(a, b, { replace: false }), withCode('already_exists'));
          assert.equal(await text(b), 'b');
          await assert.rejects(remote.move(a, at(`${folder}/sub`), { replace: true }), withCode('is_a_folder'));
          const replaced = await remote.move(a, b, { replace: true });
          assert.deepEqual([replaced.path, replaced.name, replaced.size], [b, 'b', content.length]);
          assert.ok((await disk.read(b)).equals(content));
          const moved = await remote.move(b, there, { replace: false });
          assert.deepEqual([moved.name, moved.path, moved.size], ['place', there, content.length]);
          await assert.rejects(remote.stat(b), withCode('not_found'));
          for (const replace of [false, true]) {
            assert.equal((await remote.move(there, there, { replace })).size, content.length);
          }
        });
        assert.ok((await disk.read(there)).equals(content));
        assert.deepEqual(await disk.files(folder), [`${folder}/sub/f`, there]);
      });

      test('moving folders', async () => {
        const folder = newFolder();
        const files = ['a', 'b c', 'sub/d', 'sub/deep/e'];
        for (const file of files) await disk.write(`${folder}/from/${file}`, file);
        await disk.write(`${folder}/other/x`, '');
        await disk.write(`${folder}/file`, '');
        const to = at(`${folder}/new/to`);
        await use(async (remote) => {
          const info = await remote.move(at(`${folder}/from`), to, { replace: false });
          assert.deepEqual([info.path, info.isDirectory], [to, true]);
          for (const replace of [false, true]) {
            await assert.rejects(remote.move(to, at(`${folder}/other`), { replace }), withCode('is_a_folder'));
            await assert.rejects(remote.move(to, at(`${folder}/file`), { replace }), withCode('not_a_folder'));
            assert.equal((await remote.move(to, to, { replace })).isDirectory, true);
          }
        });
        const expected = files.map((file) => `${to}/${file}`);
        assert.deepEqual(await disk.files(folder), [`${folder}/file`, ...expected, `${folder}/other/x`]);
        assert.equal(await text(`${to}/sub/deep/e`), 'sub/deep/e');
      });

      test('removing works only for files', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/a`, '');
        await disk.write(`${folder}/sub/f`, '');
        await use(async (remote) => {
          await remote.remove(at(`${folder}/a`));
          await assert.rejects(remote.remove(at(`${folder}/a`)), withCode('not_found'));
          await assert.rejects(remote.remove(at(`${folder}/sub`)), withCode('is_a_folder'));
          await assert.rejects(remote.remove(at('/')), withCode('is_a_folder'));
        });
        assert.deepEqual(await disk.files(folder), [`${folder}/sub/f`]);
      });

      test('removing folders works only for empty ones', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/file`, 'x');
        await disk.write(`${folder}/full/f`, 'x');
        await disk.write(`${folder}/outer/inner/f`, 'x');
        await use(async (remote) => {
          const remove = (path: string): Promise<void> => remote.removeFolder(at(path));
          await remote.makeFolder(at(`${folder}/empty`));
          await remove(`${folder}/empty`);
          await assert.rejects(remote.stat(at(`${folder}/empty`)), withCode('not_found'));
          await assert.rejects(remove(`${folder}/empty`), withCode('not_found'));
          await assert.rejects(remove(`${folder}/none/below`), withCode('not_found'));
          await assert.rejects(remove(`${folder}/file`), withCode('not_a_folder'));
          await assert.rejects(remove(`${folder}/full`), withCode('not_empty'));
          await assert.rejects(remove(`${folder}/outer`), withCode('not_empty'));
          await assert.rejects(remove('/'), withCode('bad_path'));
          for (const name of FOLDERS.filter((one) => server.deviations.refusesFolder?.(one) !== true)) {
            await remote.makeFolder(at(`${folder}/${name}`));
            await remove(`${folder}/${name}`);
          }
          assert.deepEqual(await namesIn(remote, folder), ['file', 'full/', 'outer/']);
        });
        const left = [`${folder}/file`, `${folder}/full/f`, `${folder}/outer/inner/f`];
        assert.deepEqual(await disk.files(folder), left);
      });

      test('a move onto the file itself, through a link to its folder, keeps the file', async () => {
        if (disk.link === undefined) return;
        const folder = newFolder();
        await disk.write(`${folder}/real/f`, 'content');
        await disk.link('real', `${folder}/link`);
        for (const [from, to] of [
          ['real', 'link'],
          ['link', 'real'],
        ]) {
          for (const replace of [true, false]) {
            const moving = use((remote) =>
              remote.move(at(`${folder}/${from}/f`), at(`${folder}/${to}/f`), { replace }),
            );
            const got = await moving.then(
              () => 'moved',
              (error: unknown) => String(error),
            );
            const shown = `${from} to ${to}, ${replace}: ${got}`;
            assert.deepEqual(await disk.files(`${folder}/real`), [`${folder}/real/f`], shown);
            assert.equal(await text(`${folder}/real/f`), 'content', shown);
          }
        }
        nothingNoted();
      });

      test('a link is removed as a link, and never its target folder', async () => {
        if (disk.link === undefined) return;
        const folder = newFolder();
        await disk.write(`${folder}/target/kept`, 'x');
        await disk.write(`${folder}/tree/file`, 'x');
        await use((remote) => remote.makeFolder(at(`${folder}/empty`)));
        const links = { 'to a file': '../target/kept', 'to a folder': '../target', 'to nothing': 'nowhere' };
        for (const [name, target] of Object.entries(links)) await disk.link(target, `${folder}/tree/${name}`);
        await disk.link('../empty', `${folder}/tree/to an empty folder`);
        const { hidesLinks, hidesBrokenLinks } = server.deviations;
        await use(async (remote) => {
          const shown = async (): Promise<FileInfo[]> => {
            const found: FileInfo[] = [];
            for await (const info of entriesOf(remote.list(at(`${folder}/tree`), { followLinks: false })))
              found.push(info);
            return found;
          };
          const expected = hidesLinks === undefined ? [...Object.keys(links), 'to an empty folder'] : [];
          assert.deepEqual(
            (await shown()).flatMap(({ name, isLink }) => (isLink === true ? [name] : [])).sort(),
            expected.filter((name) => hidesBrokenLinks === undefined || name !== 'to nothing').sort(),
          );
          for (const name of ['to a folder', 'to an empty folder']) {
            await assert.rejects(remote.removeFolder(at(`${folder}/tree/${name}`)));
          }
          const removeAll = async (): Promise<void> => {
            for (const { path } of await shown()) await remote.remove(path);
            await remote.removeFolder(at(`${folder}/tree`));
          };
          if (hidesLinks !== undefined) return assert.rejects(removeAll(), withCode('not_empty'));
          await removeAll().catch((error: unknown) => {
            if (!hasCode(error, 'not_empty') || hidesBrokenLinks === undefined) throw error;
            return removeAll();
          });
          assert.equal((await remote.stat(at(`${folder}/empty`))).isDirectory, true);
        });
        assert.equal(await text(`${folder}/target/kept`), 'x');
      });

      test('making folders returns whether it made one', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/file`, '');
        await use(async (remote) => {
          assert.deepEqual(await remote.makeFolder(at(`${folder}/p/q/r`)), { created: true });
          for (const path of [`${folder}/p/q/r`, `${folder}/p`, folder, '/']) {
            assert.deepEqual(await remote.makeFolder(at(path)), { created: false }, path);
          }
          assert.deepEqual(await namesIn(remote, `${folder}/p/q`), ['r/']);
          await assert.rejects(remote.makeFolder(at(`${folder}/file`)), withCode('not_a_folder'));
          await put(remote, `${folder}/lasting/only`, 'x');
          assert.deepEqual(await remote.makeFolder(at(`${folder}/lasting`), { isLasting: true }), { created: false });
          await remote.remove(at(`${folder}/lasting/only`));
          assert.equal((await remote.stat(at(`${folder}/lasting`))).isDirectory, true);
        });
      });

      test('concurrent makers of the same folders all succeed', async () => {
        const folder = `${newFolder()}/of/makers`;
        await Promise.all(
          ['one', 'two', 'three'].map((file) => use((remote) => put(remote, `${folder}/${file}`, file))),
        );
        await Promise.all(['w', 'z', 'z'].map((sub) => use((remote) => remote.makeFolder(at(`${folder}/x/y/${sub}`)))));
        assert.deepEqual(await disk.files(folder), [`${folder}/one`, `${folder}/three`, `${folder}/two`]);
        assert.deepEqual(await use((remote) => namesIn(remote, `${folder}/x/y`)), ['w/', 'z/']);
        // Three sessions find the folder missing; only one of them makes it.
        const files = ['one', 'three', 'two'];
        const move = (file: string) => (remote: Remote) =>
          remote.move(at(`${folder}/${file}`), at(`${folder}-moved/to/${file}`), { replace: false });
        await Promise.all(files.map((file) => use(move(file))));
        assert.deepEqual(
          await disk.files(`${folder}-moved`),
          files.map((file) => `${folder}-moved/to/${file}`),
        );
      });

      test('access that the server denies is permission_denied, and the session continues', async () => {
        const { chmod } = disk;
        if (chmod === undefined) return;
        const folder = newFolder();
        await disk.write(`${folder}/file`, 'x');
        await chmod(`${folder}/file`, 0o000);
        await use(async (remote) => {
          await assert.rejects(get(remote, `${folder}/file`), withCode('permission_denied'));
          await chmod(folder, 0o555);
          await assert.rejects(remote.remove(at(`${folder}/file`)), withCode('permission_denied'));
          await assert.rejects(put(remote, `${folder}/new`, 'x'), withCode('permission_denied'));
          await assert.rejects(remote.makeFolder(at(`${folder}/sub`)), withCode('permission_denied'));
          await put(remote, `${folder}-afterwards`, 'works');
        });
        assert.deepEqual(await disk.files(folder), [`${folder}/file`]);
      });

      test('a copy inside the store, if there is one', async () => {
        const folder = newFolder();
        const content = randomBytes(2 * PART_BYTES + 1);
        await disk.write(`${folder}/ä source+1.bin`, content);
        await use(async (remote) => {
          const copy = (from: string, exclusive: boolean): Promise<FileInfo | undefined> | undefined =>
            remote.copyFrom?.(remote, at(`${folder}/${from}`), at(`${folder}/to/copy`), { exclusive });
          const info = await copy('ä source+1.bin', true);
          if (info === undefined) return;
          assert.deepEqual([info.path, info.size], [`${folder}/to/copy`, content.length]);
          assert.ok((await disk.read(`${folder}/to/copy`)).equals(content));
          // The store's own time of the source, which has no other; then a given time, and that one kept.
          const written = (await remote.stat(at(`${folder}/ä source+1.bin`))).modifiedAt;
          assert.deepEqual(info.keptModifiedAt ?? info.modifiedAt, written);
          const modifiedAt = new Date('2021-03-04T05:06:07Z');
          await remote.copyFrom?.(remote, at(`${folder}/to/copy`), at(`${folder}/dated`), {
            exclusive: true,
            modifiedAt,
          });
          assert.deepEqual(await disk.modifiedAt(`${folder}/dated`), modifiedAt);
          await remote.copyFrom?.(remote, at(`${folder}/dated`), at(`${folder}/again`), { exclusive: true });
          assert.deepEqual(await disk.modifiedAt(`${folder}/again`), modifiedAt);
          await assert.rejects(async () => copy('ä source+1.bin', true), withCode('already_exists'));
          await assert.rejects(async () => copy('none', false), withCode('not_found'));
          await assert.rejects(async () => copy('to', false), withCode('is_a_folder'));
        });
      });

      test('commands', async () => {
        const limits = { timeoutMs: 30_000, maxOutputBytes: 10_000 };
        // As in the operation: one command per lease, on another session if this one turns out dead.
        const exec = (command: string, more: Partial<ExecOptions> = {}): Promise<ExecResult | undefined> =>
          use(async (remote) => remote.exec?.(command, { ...limits, ...more }), { mayRepeat: true });
        if (server.connection.type !== 'sftp') return assert.equal(await exec('true'), undefined);
        if (server.deviations.noShell !== undefined) {
          const result = await exec('id -u').catch((error: unknown) => error);
          assert.ok(result instanceof GatewayError || (result as ExecResult).exitCode !== 0);
          return;
        }
        const got = await exec('echo out; echo err >&2; exit 3');
        assert.deepEqual(got, { exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
        assert.equal((await exec('kill -TERM $$'))?.exitCode, 143);
        await assert.rejects(exec('yes'), withCode('too_large'));
        const onOutput = (): never => {
          throw new GatewayError('overloaded', 'no room');
        };
        await assert.rejects(exec('echo x', { onOutput }), withCode('overloaded'));
        await assert.rejects(exec('sleep 20', { timeoutMs: 300 }), withCode('command_timeout'));
      });
    });

    describe('the end of an operation', () => {
      const CALLS: Readonly<Record<string, (remote: Remote, folder: string) => Promise<unknown>>> = {
        stat: (remote, folder) => remote.stat(at(`${folder}/f`)),
        list: (remote, folder) => list(remote, folder),
        read: async (remote, folder) => get(remote, `${folder}/f`),
        write: (remote, folder) => put(remote, `${folder}/new`, 'x'),
        move: (remote, folder) => remote.move(at(`${folder}/f`), at(`${folder}/moved`), { replace: false }),
        remove: (remote, folder) => remote.remove(at(`${folder}/f`)),
        makeFolder: (remote, folder) => remote.makeFolder(at(`${folder}/sub`)),
        removeFolder: (remote, folder) =>
          remote.removeFolder(at(`${folder}/none`)).catch((error: unknown) => {
            if (!hasCode(error, 'not_found')) throw error;
          }),
        append: async (remote, folder) => {
          const writer = await remote.append?.(at(`${folder}/f`));
          if (writer !== undefined) await fill(writer, 'x');
        },
      };
      for (const [call, ask] of Object.entries(CALLS)) {
        test(`${call} stops with the reason of the signal, before it begins or while it runs`, async () => {
          const folder = newFolder();
          await disk.write(`${folder}/f`, 'content');
          const ender = new AbortController();
          await use(
            async (remote) => {
              ender.abort(new GatewayError('draining', 'the gateway stops'));
              if (call !== 'append' || server.deviations.noAppend === undefined) {
                await assert.rejects(ask(remote, folder), withCode('draining'));
              }
            },
            { signal: ender.signal },
          );
          assert.deepEqual(await disk.files(folder), [`${folder}/f`]);
          const onItsWay = new AbortController();
          const asked = use(
            async (remote) => {
              const asking = ask(remote, folder);
              onItsWay.abort(new GatewayError('draining', 'the gateway stops'));
              await asking;
            },
            { signal: onItsWay.signal },
          );
          // Work under way may have been done; any other error is the reason.
          await asked.catch((error: unknown) => withCode('draining')(error));
          // As in an operation: a server may not have given back the slot of a channel that the end has closed.
          await use((remote) => remote.stat(at(folder)), { mayRepeat: true });
        });
      }

      test('an upload stops, and cleaning up still works', async () => {
        const folder = newFolder();
        for (const options of [{ size: 8 * PART_BYTES }, {}, { provisional: true }]) {
          const ender = new AbortController();
          await use(
            async (remote) => {
              const writer = await remote.write(at(`${folder}/a`), options);
              async function* halts(): AsyncGenerator<Buffer> {
                yield randomBytes(2 * PART_BYTES);
                ender.abort(new GatewayError('draining', 'the gateway stops'));
                yield randomBytes(1);
              }
              await assert.rejects(pipeline(Readable.from(halts()), writer), withCode('draining'));
              await writer.abort(ender.signal.reason as Error);
            },
            { signal: ender.signal },
          );
        }
        assert.deepEqual(await disk.files(folder), []);
        nothingNoted();
      });

      test('a download stops with the reason', async () => {
        const file = `${newFolder()}/large`;
        await disk.write(file, randomBytes(24_000_000));
        const ender = new AbortController();
        await use(
          async (remote) => {
            const body = streamOf(await remote.read(at(file)));
            await once(body, 'readable');
            ender.abort(new GatewayError('draining', 'the gateway stops'));
            await assert.rejects(body.toArray(), withCode('draining'));
          },
          { signal: ender.signal },
        );
      });

      test('irrevocable requests are announced, and may be refused then', async () => {
        const folder = newFolder();
        await disk.write(`${folder}/f`, 'old');
        const changes: Readonly<Record<string, (remote: Remote) => Promise<unknown>>> = {
          'a commit': (remote) => put(remote, `${folder}/f`, 'new'),
          'an exclusive commit': (remote) => put(remote, `${folder}/n`, 'new', {}, { exclusive: true }),
          'a move': (remote) => remote.move(at(`${folder}/f`), at(`${folder}/g`), { replace: false }),
          'a removal': (remote) => remote.remove(at(`${folder}/f`)),
          'a folder’s removal': async (remote) => {
            await remote.makeFolder(at(`${folder}/sub`));
            await remote.removeFolder(at(`${folder}/sub`));
          },
        };
        for (const [what, change] of Object.entries(changes)) {
          const irrevocable = (): never => {
            throw LEFT;
          };
          await use((remote) => assert.rejects(change(remote), withCode('client_gone'), what), { irrevocable });
        }
        assert.equal(await text(`${folder}/f`), 'old');
        assert.deepEqual(await disk.files(folder), [`${folder}/f`]);
        for (const change of Object.values(changes).slice(0, 2)) {
          let got = 0;
          await use(change, { irrevocable: () => void got++ });
          assert.ok(got > 0);
        }
        nothingNoted();
      });

      test('what a dead session leaves is noted, to be removed in another one', async (t) => {
        if (server.hasNoWire === true) return;
        const folder = newFolder();
        const proxy = await startProxy(portOf(server.connection), { ftp: server.connection.type === 'ftp' });
        t.after(() => proxy.stop());
        const connection = through(server.connection, proxy.port);
        const { notes } = seam;
        for (const options of [{}, { provisional: true }]) {
          await use(
            async (remote) => {
              const writer = await remote.write(at(`${folder}/a`), options);
              writer.on('error', () => undefined);
              await new Promise<void>((written) => {
                writer.write(randomBytes(2 * PART_BYTES + 7), () => written());
                writer.write(Buffer.alloc(1));
              });
              proxy.isDown = true;
              proxy.fail('reset');
              await writer.abort(LEFT);
            },
            { connection },
          ).finally(() => (proxy.isDown = false));
          const ofServer = (left: string): boolean => /\/\.(?!ftg-)[^/]*$/.test(left);
          for (const left of await disk.files(folder)) {
            const isNoted = left.endsWith('?upload')
              ? notes.abortLater.length > 0
              : notes.removeLater.includes(at(left)) || ofServer(left);
            assert.ok(isNoted, `${left}: ${JSON.stringify([notes.removeLater, notes.abortLater])}`);
          }
          // The server removes its own temporary files when it notices the cut.
          await eventually(async () => !(await disk.files(folder)).some(ofServer), 'its own files are gone');
          // As in the gateway when it finds the notes.
          await use(async (remote) => {
            for (const path of notes.removeLater.splice(0))
              await remote.remove(path, { isLeftover: true }).catch(() => undefined);
            for (const id of notes.abortLater.splice(0)) {
              await remote.abortMultipart?.(notes.multiparts.get(id) ?? assert.fail(id), id);
              await remote.abortMultipart?.(notes.multiparts.get(id) ?? assert.fail(id), id);
              notes.multiparts.delete(id);
            }
          });
          assert.deepEqual(await disk.files(folder), []);
        }
        nothingNoted();
      });
    });
  });
}

/** Reported and true size: within one packet, at the bounds of a whole file, and of many packets. */
const UNTRUE_SIZES = [
  [0, 124],
  [2_000, 2_340],
  [WHOLE_BYTES, WHOLE_BYTES + 1],
  [0, 300_000],
  [200_000, 234_000],
  [3_000_000, 3_000_001],
] as const;

/** Reads from a scripted server that reports another size than a file has: the content counts. */
export function misreportingSuite(name: string, start: () => Promise<Misreporting>): void {
  describe(`the content of a file counts, not its size, on ${name}`, { concurrency: 1 }, () => {
    let server: Misreporting;
    let seam: Seam;
    let count = 0;

    before(async () => {
      server = await start();
      seam = openSeam(connectionOf(server.connection));
    });
    after(async () => {
      seam?.close();
      await server?.stop();
    });

    const lay = (size: number, reportedSize: number): { readonly path: string; readonly content: Buffer } => {
      const path = `/file-${++count}`;
      const content = randomBytes(size);
      server.put(path, content, reportedSize);
      return { path, content };
    };
    const all = async (file: Parameters<typeof streamOf>[0]): Promise<Buffer> =>
      Buffer.concat((await streamOf(file).toArray()) as Buffer[]);
    /** Like a client that requests everything from `first` on. */
    const from =
      (first: number) =>
      ({ size }: FileInfo): { readonly start: number; readonly end: number } => {
        if (first < size) return { start: first, end: size - 1 };
        throw new GatewayError('bad_range', 'outside');
      };

    for (const [reported, size] of UNTRUE_SIZES) {
      test(`${size} bytes that are reported as ${reported}: all of them are read`, async () => {
        const { path, content } = lay(size, reported);
        assert.ok((await seam.use(async (remote) => all(await remote.read(at(path))))).equals(content), 'read');
        const admitted: number[] = [];
        const gathered = await seam.use(async (remote) =>
          gather(await remote.read(at(path), () => undefined), { admit: (bytes) => void admitted.push(bytes) }),
        );
        assert.ok(gathered.equals(content), 'gathered');
        assert.ok(admitted.length > 0 || server.connection.type === 's3', 'it was asked whether more may be kept');
        await seam.use(async (remote) => {
          const { file, length } = await wholeIfShort(await remote.read(at(path)));
          assert.ok((await all(file)).equals(content), 'in one piece where it is short');
          if (size <= WHOLE_BYTES) assert.deepEqual([file.info.size, length], [size, size]);
          else if (reported <= WHOLE_BYTES && server.connection.type !== 's3') assert.equal(length, undefined);
        });
      });

      test(`${size} bytes that are reported as ${reported}: no range is cut, or refused`, async () => {
        const { path, content } = lay(size, reported);
        await seam.use(async (remote) => {
          const file = await remote.read(at(path), from(reported));
          assert.ok(file.range === undefined && (await all(file)).equals(content), 'begins behind the reported end');
        });
        if (reported === 0) return;
        const last = seam.use(async (remote) => {
          const file = await remote.read(at(path), from(reported - 1));
          assert.ok((await all(file)).equals(content), 'ends with the file');
        });
        // If only the bytes themselves show it, it is known too late for the whole file.
        await last.catch((error: unknown) => assert.ok(hasCode(error, 'size_mismatch'), String(error)));
        await seam.use(async (remote) => {
          const file = await remote.read(at(path), () => ({ start: 1, end: 9 }));
          assert.ok((await all(file)).equals(file.range === undefined ? content : content.subarray(1, 10)), 'inside');
        });
      });
    }

    for (const size of [0, 2_000, WHOLE_BYTES, 200_000]) {
      test(`${size} bytes that are reported correctly: ranges are chosen by the size`, async () => {
        const { path, content } = lay(size, size);
        await seam.use(async (remote) => {
          for (let tries = 0; tries < 3; tries++) {
            const behind = remote.read(at(path), from(size));
            await assert.rejects(behind, withCode('bad_range'));
          }
          assert.ok((await all(await remote.read(at(path)))).equals(content));
          if (size === 0) return;
          const file = await remote.read(at(path), from(size - 10));
          assert.deepEqual(file.range, { start: size - 10, end: size - 1 });
          assert.ok((await all(file)).equals(content.subarray(-10)));
        });
      });
    }

    test('fewer bytes than reported are an error', async () => {
      for (const [reported, size] of [
        [2_340, 2_000],
        [234_000, 200_000],
      ] as const) {
        const { path } = lay(size, reported);
        const read = seam.use(async (remote) => all(await remote.read(at(path))));
        if (server.connection.type === 's3') assert.equal((await read).length, size);
        else await assert.rejects(read, withCode('size_mismatch'));
      }
    });
  });
}
