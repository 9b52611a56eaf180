/**
 * A folder where a file is wanted, or the reverse, and forbidden targets of moves. Former defects: S3 stored a file
 * over a folder and below a file; a folder moved into itself was 502; `overwrite: true` was suggested in vain.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiAnswer } from '../support/gateway.js';
import type { Bench } from './append-rules.js';
import { assertRecent } from '../support/recent.js';

/** Files of this run are not older. */
const BEGUN = Date.now();

type Code = 'is_a_folder' | 'not_a_folder' | 'bad_path' | 'already_exists';

const STATUS: Readonly<Record<Code, number>> = {
  is_a_folder: 409,
  not_a_folder: 409,
  already_exists: 409,
  bad_path: 400,
};
const MIB = 1024 * 1024;

export function placeRules(bench: () => Bench): void {
  describe('files, folders and their places', () => {
    const post = (route: string, body: object): Promise<ApiAnswer> => bench().gateway.api.post(`/api/${route}`, body);
    const move = (from: string, to: string, more: object = {}): Promise<ApiAnswer> =>
      post('move/c1', { from, to, ...more });
    const upload = (path: string, filename: string, size: number, more: object = {}): Promise<ApiAnswer> =>
      bench().gateway.api.send('/api/upload/c1', {
        method: 'POST',
        query: { path, filename, ...more },
        headers: { 'Content-Type': 'application/octet-stream' },
        body: Buffer.alloc(size, 'x'),
      });
    const multipart = (path: string, filename: string): Promise<ApiAnswer> => {
      const field = (name: string, value: string): string =>
        `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
      const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="own"\r\n\r\nx\r\n';
      return bench().gateway.api.send('/api/upload/c1', {
        method: 'POST',
        headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
        body: `${file}${field('path', path)}${field('filename', filename)}--b--\r\n`,
      });
    };
    const copy = (from: string, to: string): Promise<ApiAnswer> =>
      post('copy', { source_connection_id: 'c1', source_path: from, dest_connection_id: 'c1', dest_path: to });

    /** A file `f`, a folder `full` with a file, a folder `empty`. */
    async function plant(): Promise<{ readonly folder: string; unchanged: () => Promise<void> }> {
      const { server, newFolder } = bench();
      const folder = newFolder();
      await server.disk.write(`${folder}/f`, 'file');
      await server.disk.write(`${folder}/full/inside`, 'inside');
      assert.equal((await post('mkdir/c1', { path: `${folder}/empty` })).status, 200);
      const unchanged = async (): Promise<void> => {
        assert.deepEqual(await server.disk.files(folder), [`${folder}/f`, `${folder}/full/inside`]);
        assert.equal((await server.disk.read(`${folder}/f`)).toString(), 'file');
      };
      return { folder, unchanged };
    }

    function refused(answer: ApiAnswer, code: Code, what: string): void {
      assert.deepEqual(
        [answer.status, answer.headers['x-error-code']],
        [STATUS[code], code],
        `${what}: ${answer.text}`,
      );
      assert.doesNotMatch(String(answer.json['error']), /overwrite/, what);
    }

    test('a file does not replace a folder', async () => {
      const { folder, unchanged } = await plant();
      for (const name of ['full', 'empty']) {
        const at = `${folder}/${name}`;
        refused(await post('write/c1', { path: at, content: 'x' }), 'is_a_folder', `write ${name}`);
        for (const size of [0, 10, 2 * MIB]) {
          refused(await upload(folder, name, size), 'is_a_folder', `upload of ${size} to ${name}`);
        }
        refused(await upload(folder, name, 1, { overwrite: 'false' }), 'is_a_folder', `exclusive upload to ${name}`);
        refused(await multipart(folder, name), 'is_a_folder', `multipart upload to ${name}`);
        refused(await copy(`${folder}/f`, at), 'is_a_folder', `copy to ${name}`);
        for (const overwrite of [false, true]) {
          refused(await move(`${folder}/f`, at, { overwrite }), 'is_a_folder', `move to ${name}, ${overwrite}`);
        }
      }
      await unchanged();
    });

    test('a file does not replace a link to a folder', async () => {
      const { folder } = await plant();
      const { disk, deviations } = bench().server;
      if (disk.link === undefined || deviations.hidesLinks !== undefined) return;
      await disk.link('full', `${folder}/link`);
      for (const size of [0, 10, 2 * MIB]) {
        refused(await upload(folder, 'link', size), 'is_a_folder', `upload of ${size}`);
      }
      refused(await post('write/c1', { path: `${folder}/link`, content: 'x' }), 'is_a_folder', 'write');
      refused(await multipart(folder, 'link'), 'is_a_folder', 'multipart upload');
      refused(await copy(`${folder}/f`, `${folder}/link`), 'is_a_folder', 'copy');
      refused(await move(`${folder}/f`, `${folder}/link`, { overwrite: true }), 'is_a_folder', 'move');
      assert.deepEqual(await disk.files(folder), [`${folder}/f`, `${folder}/full/inside`, `${folder}/link`]);
      assert.equal((await disk.read(`${folder}/link/inside`)).toString(), 'inside');
    });

    test('nothing is stored below a file', async () => {
      const { folder, unchanged } = await plant();
      for (const below of [`${folder}/f`, `${folder}/f/deeper/down`]) {
        refused(await post('write/c1', { path: `${below}/x`, content: 'x' }), 'not_a_folder', `write ${below}/x`);
        for (const size of [10, 2 * MIB]) {
          refused(await upload(below, 'x', size), 'not_a_folder', `upload of ${size} below ${below}`);
        }
        refused(await multipart(below, 'x'), 'not_a_folder', `multipart upload below ${below}`);
        refused(await copy(`${folder}/full/inside`, `${below}/x`), 'not_a_folder', `copy below ${below}`);
        refused(await move(`${folder}/full/inside`, `${below}/x`), 'not_a_folder', `move below ${below}`);
        refused(await move(`${folder}/full`, `${below}/x`), 'not_a_folder', `move of a folder below ${below}`);
        refused(await move(`${folder}/f`, `${below}/x`), 'not_a_folder', `move of a file below itself`);
        refused(await post('mkdir/c1', { path: `${below}/x` }), 'not_a_folder', `mkdir below ${below}`);
      }
      await unchanged();
    });

    test('a folder does not move into itself or onto anything, nor does the root', async () => {
      const { folder, unchanged } = await plant();
      const full = `${folder}/full`;
      for (const to of [`${full}/sub`, `${full}/new/sub`, `${full}//./x/../sub/`, `${full}/inside`]) {
        for (const from of [full, `${full}/`, full.slice(1)]) {
          refused(await move(from, to, { overwrite: true }), 'bad_path', `${from} to ${to}`);
        }
      }
      for (const to of [`${folder}/moved`, '/', folder]) refused(await move('/', to), 'bad_path', `/ to ${to}`);
      for (const overwrite of [false, true]) {
        refused(await move(full, `${folder}/empty`, { overwrite }), 'is_a_folder', 'a folder onto a folder');
        refused(await move(full, '/', { overwrite }), 'is_a_folder', 'a folder onto the root');
        refused(await move(full, folder, { overwrite }), 'is_a_folder', 'a folder onto its own parent');
        refused(await move(full, `${folder}/f`, { overwrite }), 'not_a_folder', 'a folder onto a file');
      }
      await unchanged();
      // A longer name with the same beginning is another folder.
      const moved = await move(full, `${full}-2/sub`);
      assert.equal(moved.status, 200, moved.text);
      assert.deepEqual(await bench().server.disk.files(folder), [`${folder}/f`, `${full}-2/sub/inside`]);
    });

    test('onto itself: a move does nothing, a copy is refused', async () => {
      const { folder, unchanged } = await plant();
      for (const path of [`${folder}/f`, `${folder}/full`]) {
        for (const overwrite of [false, true]) {
          const answer = await move(path, path, { overwrite });
          assert.equal(answer.status, 200, answer.text);
        }
      }
      refused(await copy(`${folder}/f`, `${folder}/f`), 'already_exists', 'copy');
      assert.equal((await move(`${folder}/none`, `${folder}/none`)).status, 404);
      assert.equal((await move(`${folder}/none`, `${folder}/none/below`)).status, 404);
      await unchanged();
    });

    test('of moves at once onto one name, and of one file, exactly one is done, and no file is lost', async () => {
      const { server, newFolder } = bench();
      const folder = newFolder();
      const sources = Array.from({ length: 8 }, (_, index) => `${folder}/s${index}`);
      for (const source of sources) await server.disk.write(source, source);
      const onto = await Promise.all(sources.map((source) => move(source, `${folder}/target`)));
      const winner = onto.findIndex(({ status }) => status === 200);
      const text = onto.map((answer) => answer.text).join('\n');
      assert.equal(onto.filter(({ headers }) => headers['x-error-code'] === 'already_exists').length, 7, text);
      assert.equal((await server.disk.read(`${folder}/target`)).toString(), sources[winner], text);
      const kept = sources.filter((_, index) => index !== winner);
      assert.deepEqual(await server.disk.files(folder), [...kept, `${folder}/target`]);

      const from = await Promise.all(sources.map((source) => move(`${folder}/target`, `${source}-moved`)));
      const reached = from.findIndex(({ status }) => status === 200);
      const errors = from.map((answer) => answer.text).join('\n');
      assert.equal(from.filter(({ status }) => status === 404).length, 7, errors);
      assert.deepEqual(await server.disk.files(folder), [...kept, `${sources[reached]}-moved`].toSorted());
    });

    test('of copies and uploads at once that replace nothing, exactly one is done', async () => {
      const { server, newFolder } = bench();
      const folder = newFolder();
      await server.disk.write(`${folder}/source`, 'copied');
      const ends = { source_connection_id: 'c1', source_path: `${folder}/source`, dest_connection_id: 'c1' };
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          index % 2 === 0
            ? upload(folder, 'new', 10, { overwrite: 'false' })
            : post('copy', { ...ends, dest_path: `${folder}/new`, overwrite: false }),
        ),
      );
      const winner = answers.findIndex(({ status }) => status === 200);
      const text = answers.map((answer) => answer.text).join('\n');
      assert.equal(answers.filter(({ headers }) => headers['x-error-code'] === 'already_exists').length, 9, text);
      const stored = (await server.disk.read(`${folder}/new`)).toString();
      assert.equal(stored, winner % 2 === 0 ? 'x'.repeat(10) : 'copied');
    });

    test('list and exists return the same for an entry, but for its rights and owner', async () => {
      const { folder } = await plant();
      const { gateway } = bench();
      const ask = (route: string, path: string): Promise<ApiAnswer> =>
        gateway.api.get(`/api/${route}/c1`, { query: { path } });
      const files = (await ask('list', folder)).json['files'] as { path: string; name: string; modifiedAt: string }[];
      assert.deepEqual(
        files.map(({ name }) => name),
        ['empty', 'full', 'f'],
      );
      for (const file of files) {
        const { exists, file: single } = (await ask('exists', file.path)).json as { exists: boolean; file: object };
        const rights = { mode: undefined, owner: undefined, group: undefined };
        assert.deepEqual([exists, { ...single, ...rights }], [true, { ...file, ...rights }]);
        // On S3 only the marker object of a folder has a time.
        const isTimeless = bench().server.connection.type === 's3' && file.name === 'full';
        if (isTimeless) assert.ok(Date.parse(file.modifiedAt) < Date.now() - 1e12, file.modifiedAt);
        else assertRecent(file.modifiedAt, BEGUN, 60_000);
      }
      const root = (await ask('exists', '/')).json as { exists: boolean; file: Record<string, unknown> };
      const { modifiedAt, mode: _mode, owner: _owner, group: _group, ...facts } = root.file;
      assert.deepEqual(facts, { name: '', path: '/', size: 0, isDirectory: true });
      assert.ok(!Number.isNaN(Date.parse(String(modifiedAt))));
    });

    test('the root is an existing folder', async () => {
      const made = await post('mkdir/c1', { path: '/' });
      assert.deepEqual(made.json, { success: true, path: '/', created: false });
      refused(await post('delete/c1', { path: '/' }), 'is_a_folder', 'delete');
      refused(await post('write/c1', { path: '/', content: 'x' }), 'is_a_folder', 'write');
    });
  });
}
