/** Trees of files, accessed without the targets' protocols: made, compared byte by byte, and removed. */
import { randomFillSync } from 'node:crypto';
import { mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Target } from './target.js';

export interface Tree {
  readonly files: number;
  /** The size of each file. */
  readonly bytes: number;
}

const FILES_OF_A_FOLDER = 100;
const AT_ONCE = 16;
/** Long ago: files copied today are newer. */
const WRITTEN_AT = new Date('2024-05-06T07:08:09Z');

export function filePaths({ files }: Tree): string[] {
  return Array.from({ length: files }, (_, index) => `folder-${Math.floor(index / FILES_OF_A_FOLDER)}/file-${index}`);
}

export async function storeTree(target: Target, folder: string, tree: Tree): Promise<void> {
  const contents = contentsOf(tree);
  const folders = new Set(filePaths(tree).map((path) => dirname(path)));
  if (target.protocol !== 's3') {
    for (const each of folders) await mkdir(join(target.folder, folder, each), { recursive: true });
  }
  // One buffer for all, one after the other.
  for (const [index, path] of filePaths(tree).entries()) {
    const name = `${folder}/${path}`;
    if (target.protocol === 's3') await ask(target.endpoint, 'PUT', `${target.bucket}/${name}`, contents(index));
    else {
      await writeFile(join(target.folder, name), contents(index));
      await utimes(join(target.folder, name), WRITTEN_AT, WRITTEN_AT);
    }
  }
}

/** @throws if a file of the tree is missing in the other place, or differs */
export async function expectSameTree(
  tree: Tree,
  source: { readonly target: Target; readonly folder: string },
  copy: { readonly target: Target; readonly folder: string },
): Promise<void> {
  await each(filePaths(tree), async (path) => {
    const [one, other] = await Promise.all([
      contentOf(source.target, `${source.folder}/${path}`),
      contentOf(copy.target, `${copy.folder}/${path}`),
    ]);
    if (!one.equals(other)) throw new Error(`${copy.folder}/${path} differs from ${source.folder}/${path}`);
  });
}

export async function removeTree(target: Target, folder: string, tree: Tree): Promise<void> {
  if (target.protocol !== 's3') return rm(join(target.folder, folder), { recursive: true, force: true });
  await each(
    filePaths(tree),
    async (path) => void (await ask(target.endpoint, 'DELETE', `${target.bucket}/${folder}/${path}`)),
  );
}

/** Random, and different for each file. */
function contentsOf({ bytes }: Tree): (index: number) => Buffer {
  const content = randomFillSync(Buffer.allocUnsafe(bytes));
  return (index) => {
    content.writeUInt32LE(index);
    return content;
  };
}

async function contentOf(target: Target, name: string): Promise<Buffer> {
  if (target.protocol !== 's3') return readFile(join(target.folder, name));
  return ask(target.endpoint, 'GET', `${target.bucket}/${name}`);
}

/** The store of the bench checks no signatures. */
async function ask(endpoint: string, method: string, path: string, body?: Buffer): Promise<Buffer> {
  const answer = await fetch(`${endpoint}/${path}`, { method, ...(body && { body: new Uint8Array(body) }) });
  const content = Buffer.from(await answer.arrayBuffer());
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`);
  return content;
}

async function each(paths: readonly string[], work: (path: string) => Promise<void>): Promise<void> {
  const queue = paths.values();
  const worker = async (): Promise<void> => {
    for (const path of queue) await work(path);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
