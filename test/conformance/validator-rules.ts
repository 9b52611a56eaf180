/**
 * A client's stored version of a file is never taken for another version of it. A former defect: two versions of one
 * size and one second had one strong ETag, so a stale one was "not modified", and a resumed download spliced both.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiAnswer } from '../support/gateway.js';
import type { Bench } from './append-rules.js';
import { eventually } from '../support/eventually.js';

const SIZE = 4_000;

export function validatorRules(bench: () => Bench): void {
  describe('the identification of a file’s version', () => {
    const isS3 = (): boolean => bench().server.connection.type === 's3';
    const upload = async (folder: string, body: Buffer): Promise<void> => {
      const query = { path: folder, filename: 'f.html' };
      const headers = { 'Content-Type': 'application/octet-stream' };
      const answer = await bench().gateway.api.send('/api/upload/c1', { method: 'POST', query, headers, body });
      assert.equal(answer.status, 200, answer.text);
    };
    const ask = (method: 'GET' | 'HEAD', path: string, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
      bench().gateway.api.send('/api/download/c1', { method, query: { path }, headers });
    /** The tag, once there is one. */
    const tagOf = async (path: string): Promise<string> => {
      let tag: string | undefined;
      await eventually(async () => (tag = (await ask('HEAD', path)).headers.etag) !== undefined, 'it has an ETag');
      return tag ?? assert.fail();
    };

    test('versions of one size in quick succession: nothing stale is confirmed, nothing is spliced', async () => {
      const folder = bench().newFolder();
      const path = `${folder}/f.html`;
      let held: ApiAnswer | undefined;
      // For at least two seconds: some versions are written within one of them, with any clocks.
      for (const until = Date.now() + 4_000; Date.now() < until;) {
        const content = randomBytes(SIZE);
        await upload(folder, content);
        if (held !== undefined) {
          const { etag, 'last-modified': modified = '' } = held.headers;
          const conditions: Record<string, string>[] = [
            { 'If-Modified-Since': modified },
            { Range: 'bytes=1000-', 'If-Range': modified },
            ...(etag === undefined ? [] : [{ 'If-None-Match': etag }, { Range: 'bytes=1000-', 'If-Range': etag }]),
          ];
          for (const headers of conditions) {
            const answer = await ask('GET', path, headers);
            assert.equal(answer.status, 200, `${JSON.stringify(headers)} was taken for the version of now`);
            assert.ok(answer.bytes.equals(content));
          }
        }
        held = await ask('GET', path);
        assert.ok(held.bytes.equals(content));
      }
    });

    test('an unchanged file is confirmed; a range needs a strong tag', async () => {
      const folder = bench().newFolder();
      const path = `${folder}/f.html`;
      const content = randomBytes(SIZE);
      await upload(folder, content);
      const tag = await tagOf(path);
      assert.match(tag, isS3() ? /^"[^"]+"$/ : /^W\/"[^"]+"$/);
      const bare = tag.replace('W/', '');
      for (const tags of [tag, bare, `W/${bare}`, `"other", ${tag}`, '*']) {
        for (const method of ['GET', 'HEAD'] as const) {
          const answer = await ask(method, path, { 'If-None-Match': tags });
          assert.deepEqual([answer.status, answer.bytes.length], [304, 0], `${method} ${tags}`);
        }
      }
      assert.equal((await ask('GET', path, { 'If-None-Match': '"other"' })).status, 200);
      const { 'last-modified': modified = '' } = (await ask('HEAD', path)).headers;
      const isSame = async (): Promise<boolean> =>
        (await ask('GET', path, { 'If-Modified-Since': modified })).status === 304;
      await eventually(isSame, 'the date alone confirms it');
      const resume = (condition: string): Promise<ApiAnswer> =>
        ask('GET', path, { Range: 'bytes=1000-', 'If-Range': condition });
      for (const condition of [modified, bare === tag ? '"other"' : bare, `W/${bare}`]) {
        const whole = await resume(condition);
        assert.equal(whole.status, 200, condition);
        assert.ok(whole.bytes.equals(content));
      }
      if (isS3()) assert.equal((await resume(tag)).status, 206);
    });

    test('a file that others wrote gets a tag too, after a while', async () => {
      const path = `${bench().newFolder()}/f.html`;
      await bench().server.disk.write(path, 'one');
      const tag = await tagOf(path);
      // Another second of the server's clock.
      await sleep(1_100);
      await bench().server.disk.write(path, 'two');
      assert.equal((await ask('GET', path, { 'If-None-Match': tag })).text, 'two');
    });

    test('416 has the size; every download asks browsers to keep to the type', async () => {
      const folder = bench().newFolder();
      const path = `${folder}/f.html`;
      await upload(folder, randomBytes(SIZE));
      const outside = await ask('GET', path, { Range: `bytes=${SIZE}-` });
      assert.deepEqual([outside.status, outside.headers['content-range']], [416, `bytes */${SIZE}`]);
      const json = { query: { path, format: 'json' } };
      for (const answer of [
        await ask('GET', path),
        await ask('HEAD', path),
        await ask('GET', path, { Range: 'bytes=0-9' }),
        await bench().gateway.api.get('/api/download/c1', json),
        await bench().gateway.api.send('/api/download/c1', { method: 'HEAD', ...json }),
      ]) {
        assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      }
    });
  });
}
