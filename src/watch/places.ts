/** Targets of files of watched folders. No file may return to the folder that it came from. */
import { refusal } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import type { CopyTo } from '../contract/watched-folder.js';
import { loginOf } from '../operations/copy.js';
import { applyTemplate, type TemplateFacts } from '../operations/names.js';
import { baseName, joinPath, parentOf, parseRemotePath, ROOT, type RemotePath } from '../remotes/path.js';
import type { Remotes } from '../remotes/registry.js';
import type { WatchRoute } from '../storage/storage.js';

/** The path below `target` that corresponds to `path` below `root`. */
export function samePlace(root: RemotePath, path: RemotePath, target: RemotePath): RemotePath {
  const above = root === '/' ? '/' : `${root}/`;
  // The folder may have watched another path when the file was reported.
  return joinPath(target, path.startsWith(above) ? path.slice(above.length) : baseName(path));
}

/** The target path for a copy of `path`. @throws GatewayError bad_path */
export function copyPlace(folderPath: string, copyTo: CopyTo, path: RemotePath, facts: TemplateFacts): RemotePath {
  const target = parseRemotePath(copyTo.path, ROOT, 'copyTo.path');
  const place = samePlace(parseRemotePath(folderPath, ROOT, 'path'), path, target);
  const { filename_template: template } = copyTo;
  return template === undefined ? place : joinPath(parentOf(place), applyTemplate(template, baseName(place), facts));
}

/** A folder of a login on a server. It ends with a slash, so that it is a prefix of everything below it. */
type Tree = string;

interface Node {
  readonly route: WatchRoute;
  readonly watched: Tree;
  readonly targets: readonly { readonly tree: Tree; readonly isCopy: boolean }[];
}

interface LoopOptions {
  readonly remotes: Pick<Remotes, 'placeInTree'>;
  readonly find: (connectionId: string) => Promise<Connection | undefined>;
}

/**
 * Refuses a folder whose copies would return to it, directly or through other folders: they would be found and copied
 * again and again. Name patterns are not considered.
 * @throws GatewayError bad_request
 */
export async function refuseLoops(
  folder: WatchRoute,
  others: readonly WatchRoute[],
  options: LoopOptions,
): Promise<void> {
  const routes = others.filter(({ id }) => id !== folder.id);
  if (folder.copyTo === null && routes.every(({ copyTo }) => copyTo === null)) return;
  const start = await nodeOf(folder, options);
  for (const { tree, isCopy } of start.targets) {
    if (isCopy && tree.startsWith(start.watched)) {
      throw refusal(
        'bad_request',
        'copyTo must lead out of the watched folder: each copy would be found, and copied again',
      );
    }
  }
  const nodes = new Trees(await Promise.all(routes.map((route) => nodeOf(route, options))));
  const ahead = [{ node: start, hasCopied: false }];
  const seen = new Set<string>();
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    for (const { tree, isCopy } of next.node.targets) {
      const hasCopied = next.hasCopied || isCopy;
      if (next.node !== start && hasCopied && meet(tree, start.watched)) throw circle(next.node.route);
      for (const node of nodes.meeting(tree)) {
        const name = `${node.route.id} ${hasCopied}`;
        if (seen.has(name)) continue;
        seen.add(name);
        ahead.push({ node, hasCopied });
      }
    }
  }
}

function circle({ id, name }: WatchRoute): Error {
  const last = `the watched folder ${name} (${id})`;
  return refusal('bad_request', `files would go round in a circle: those of this folder come back to it by ${last}`);
}

const meet = (one: Tree, other: Tree): boolean => one.startsWith(other) || other.startsWith(one);

async function nodeOf(route: WatchRoute, { remotes, find }: LoopOptions): Promise<Node> {
  const treeOf = async (connectionId: string, path: string): Promise<Tree> => {
    const connection = await find(connectionId);
    // A deleted connection leads nowhere: its tree meets no other.
    if (connection === undefined) return `?${connectionId} ${route.id}`;
    const place = remotes.placeInTree(connection, parseRemotePath(path, ROOT, 'path')).replace(/\/$/, '');
    // Two logins of one server may see different trees.
    return `${loginOf(connection)}@${place}/`;
  };
  const { connectionId, path, copyTo, moveTo } = route;
  const targets = [
    ...(copyTo === null ? [] : [{ tree: await treeOf(copyTo.connectionId, copyTo.path), isCopy: true }]),
    ...(moveTo === null ? [] : [{ tree: await treeOf(connectionId, moveTo), isCopy: false }]),
  ];
  return { route, watched: await treeOf(connectionId, path), targets };
}

/** Finds the nodes whose watched trees meet a tree, without reading all nodes. */
class Trees {
  readonly #sorted: readonly Node[];
  readonly #byTree: ReadonlyMap<Tree, readonly Node[]>;

  constructor(nodes: readonly Node[]) {
    this.#sorted = [...nodes].sort((a, b) => (a.watched < b.watched ? -1 : 1));
    const byTree = new Map<Tree, Node[]>();
    for (const node of nodes) byTree.set(node.watched, [...(byTree.get(node.watched) ?? []), node]);
    this.#byTree = byTree;
  }

  *meeting(tree: Tree): Iterable<Node> {
    for (let slash = tree.indexOf('/'); slash !== -1; slash = tree.indexOf('/', slash + 1)) {
      yield* this.#byTree.get(tree.slice(0, slash + 1)) ?? [];
    }
    let [from, to] = [0, this.#sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#sorted[middle] as Node).watched <= tree) from = middle + 1;
      else to = middle;
    }
    for (; this.#sorted[from]?.watched.startsWith(tree) === true; from++) yield this.#sorted[from] as Node;
  }
}
