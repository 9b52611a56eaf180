/**
 * A program: an S3 store of any size that needs no memory for its objects. The key of each is made when it is asked
 * for, so that a listing of a million of them costs the store little.
 *
 * Argument: port. A tree has the number of its objects in its name: `any/tree-1000000/d000/file-0000000`, in folders of
 * 20,000. Supports listing by pages, HEAD and DELETE, and no content.
 */
import http from 'node:http';

const FOLDER_OBJECTS = 20_000;
const MOST_KEYS = 1000;
const SIZE = 4096;
const MODIFIED_AT = new Date('2024-05-06T07:08:09Z');

class Tree {
  readonly #gone: Uint8Array;
  /** Objects that are left, by folder. */
  readonly #left: number[];

  constructor(
    readonly name: string,
    readonly objects: number,
  ) {
    this.#gone = new Uint8Array(objects);
    this.#left = Array.from({ length: Math.ceil(objects / FOLDER_OBJECTS) }, (_, folder) =>
      Math.min(FOLDER_OBJECTS, objects - folder * FOLDER_OBJECTS),
    );
  }

  key(index: number): string {
    return `${this.folder(Math.floor(index / FOLDER_OBJECTS))}file-${String(index).padStart(7, '0')}`;
  }

  folder(number: number): string {
    return `${this.name}/d${String(number).padStart(3, '0')}/`;
  }

  get folders(): string[] {
    return this.#left.flatMap((left, number) => (left > 0 ? [this.folder(number)] : []));
  }

  has(index: number): boolean {
    return index < this.objects && this.#gone[index] === 0;
  }

  remove(index: number): void {
    if (!this.has(index)) return;
    this.#gone[index] = 1;
    const folder = Math.floor(index / FOLDER_OBJECTS);
    this.#left[folder] = (this.#left[folder] ?? 0) - 1;
  }

  /** Indexes of objects from one on, in a folder or in all. */
  from(first: number, folder: number | undefined, most: number): number[] {
    const found: number[] = [];
    for (let number = folder ?? Math.floor(first / FOLDER_OBJECTS); number < this.#left.length; number += 1) {
      const end = Math.min((number + 1) * FOLDER_OBJECTS, this.objects);
      const isEmpty = this.#left[number] === 0;
      for (let index = Math.max(first, number * FOLDER_OBJECTS); !isEmpty && index < end; index += 1) {
        if (this.#gone[index] !== 0) continue;
        found.push(index);
        if (found.length === most) return found;
      }
      if (folder !== undefined) break;
    }
    return found;
  }
}

const trees = new Map<string, Tree>();
const PATH = /^([^/]+\/tree-(\d+))(?:\/(?:d(\d{3})(?:\/(?:file-(\d{7})(\/?))?)?)?)?$/;

const server = http.createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://store');
  const [, , ...rest] = url.pathname.split('/').map(decodeURIComponent);
  const key = rest.join('/');
  if (key === '') return void response.end(list(url.searchParams));
  const { tree, index } = find(key);
  if (tree === undefined || index === undefined || !tree.has(index)) return void response.writeHead(404).end();
  if (request.method !== 'DELETE') return void response.writeHead(200, FACTS).end();
  tree.remove(index);
  response.writeHead(204).end();
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.argv[2]), '127.0.0.1');

const FACTS = { etag: '"e-1"', 'last-modified': MODIFIED_AT.toUTCString(), 'content-length': SIZE };

function find(path: string): { readonly tree?: Tree; readonly folder?: number; readonly index?: number } {
  const [, name, objects, folder, index, slash] = PATH.exec(path) ?? [];
  if (name === undefined || slash === '/') return {};
  const tree = trees.get(name) ?? new Tree(name, Number(objects));
  trees.set(name, tree);
  return {
    tree,
    ...(folder === undefined ? {} : { folder: Number(folder) }),
    ...(index === undefined ? {} : { index: Number(index) }),
  };
}

function list(query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const { tree, folder, index } = find(prefix);
  if (tree === undefined || index !== undefined) return page([], []);
  if (folder === undefined && query.has('delimiter')) return page([], tree.folders);
  const most = Math.min(Number(query.get('max-keys') ?? MOST_KEYS), MOST_KEYS);
  const found = tree.from(Number(query.get('continuation-token') ?? 0), folder, most + 1);
  const next = found[most];
  return page(
    found.slice(0, most).map((at) => tree.key(at)),
    [],
    next,
  );
}

function page(keys: readonly string[], prefixes: readonly string[], next?: number): string {
  const more = next === undefined ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`;
  const facts = `<LastModified>${MODIFIED_AT.toISOString()}</LastModified><ETag>&quot;e-1&quot;</ETag><Size>${SIZE}</Size>`;
  const contents = keys.map((key) => `<Contents><Key>${key}</Key>${facts}</Contents>`).join('');
  const folders = prefixes.map((name) => `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`).join('');
  const head = `<IsTruncated>${next !== undefined}</IsTruncated>${more}`;
  return `<?xml version="1.0"?><ListBucketResult>${head}${contents}${folders}</ListBucketResult>`;
}
