/** `ftg put -r` and `ftg get -r`: transfer whole folders between here and the gateway, several files at once. */
import { lstat, opendir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { messageOf } from '../../base/errors.js';
import { type FileInfo, FtgError } from '../../client/index.js';
import type { Session } from '../command.js';
import { EXIT, Exit, exitCodeOf } from '../exit-codes.js';
import { fetchFile } from '../fetch-file.js';
import { inParallel } from '../in-parallel.js';
import { LocalTree } from '../local-path.js';
import type { Location } from '../location.js';
import { bytesText, incompleteText, oneLine } from '../output.js';
import { ProgressBlock } from '../progress.js';
import { durationText } from '../progress-text.js';
import { uploadFile } from '../resumable.js';
import { exists } from '../store.js';

/** `changed`: replaced if the size differs or the source is newer. */
export const LOCAL_RULES = ['replace', 'skip', 'newer', 'changed', 'fail'] as const;
type Rule = (typeof LOCAL_RULES)[number];

export interface FolderOptions {
  readonly overwrite: boolean;
  readonly onConflict?: Rule;
  readonly dryRun?: boolean;
  readonly transfers: number;
  readonly progress?: boolean;
}

/** The progress of a folder, file by file. */
class FolderRun {
  readonly #session: Session;
  readonly #options: FolderOptions;
  readonly running = new Map<string, { bytes: number; readonly size: number }>();
  readonly #startedAt = performance.now();
  readonly #block: ProgressBlock;
  #files = 0;
  #filesTotal = 0;
  #skipped = 0;
  #failed = 0;
  #bytes = 0;
  #bytesTotal = 0;

  constructor(session: Session, options: FolderOptions) {
    this.#session = session;
    this.#options = options;

    this.#block = new ProgressBlock(session.out.isJson ? false : options.progress, () => {
      const running = [...this.running];
      const moving = running.reduce((sum, [, one]) => sum + one.bytes, 0);
      return {
        files: this.#files,
        filesTotal: this.#filesTotal,
        skipped: this.#skipped,
        failed: this.#failed,
        bytes: this.#bytes + moving,
        bytesTotal: this.#bytesTotal,
        running: running.map(([path, { bytes, size }]) => `${path}: ${bytesText(bytes)} of ${bytesText(size)}`),
      };
    });
  }

  get rule(): Rule {
    const { onConflict, overwrite } = this.#options;
    return onConflict ?? (overwrite ? 'replace' : 'fail');
  }

  /** Transfers one file; a failure is reported, and the others continue. */
  async file(path: string, size: number, work: () => Promise<'done' | 'skipped'>): Promise<void> {
    const { out, signal } = this.#session;
    this.#filesTotal += 1;
    this.#bytesTotal += size;
    signal.throwIfAborted();
    this.running.set(path, { bytes: 0, size });
    try {
      const state = await work();
      if (state === 'done') {
        this.#files += 1;
        this.#bytes += size;
      } else {
        this.#skipped += 1;
        this.#bytesTotal -= size;
      }
      if (out.isJson || this.#options.dryRun === true) this.#report({ path, state, size });
    } catch (thrown) {
      signal.throwIfAborted();
      if (isOfAll(thrown)) throw thrown;
      this.fail(path, thrown, size);
    } finally {
      this.running.delete(path);
    }
  }

  moved(path: string, bytes: number): void {
    const one = this.running.get(path);
    if (one !== undefined) one.bytes = bytes;
  }

  /** Skips an entry that is neither file nor folder; it is counted and reported. */
  passOver(path: string, why: string): void {
    this.#skipped += 1;
    this.#report({ path, state: 'skipped', error: why });
  }

  fail(path: string, thrown: unknown, size = 0): void {
    this.#failed += 1;
    this.#bytesTotal -= size;
    this.#report({ path, state: 'failed', error: messageOf(thrown) });
  }

  stop(): void {
    this.#block.end();
    const { out, signal } = this.#session;
    if (!signal.aborted) return;
    out.note(`${this.#files} files are done; the same command with --on-conflict changed does the rest`);
  }

  /** @throws Exit if some files failed */
  end(verb: string): void {
    const { out } = this.#session;
    const files = this.#files;
    const skipped = this.#skipped;
    const failed = this.#failed;
    const bytes = this.#bytes;
    const more = Object.entries({ skipped, failed }).map(([what, count]) => (count > 0 ? `, ${count} ${what}` : ''));
    const durationMs = Math.round(performance.now() - this.#startedAt);
    const how = this.#options.dryRun === true ? 'dry run, would be ' : '';
    out.show(
      { files, skipped, failed, bytes, durationMs },
      () => `${how}${verb}: ${files} files, ${bytesText(bytes)}${more.join('')} in ${durationText(durationMs / 1_000)}`,
    );
    if (failed > 0) throw new Exit(EXIT.partlyFailed);
  }

  #report(line: { readonly path: string; readonly state: string; readonly size?: number; readonly error?: string }) {
    const { out } = this.#session;
    if (out.isJson) return out.show(line, () => '');
    const text = oneLine(`${line.path}: ${line.error ?? line.state}`);
    if (line.state === 'done') out.show(line, () => text.replace(/: done$/, ''));
    else this.#block.say(text);
  }
}

/** Other files would also fail: the gateway is away, or does not accept the key. */
function isOfAll(thrown: unknown): boolean {
  if (!(thrown instanceof FtgError)) return false;
  return thrown.status === 401 || thrown.code === 'quota_exceeded' || exitCodeOf(thrown) === EXIT.network;
}

/** Fetches a remote folder, or the matches of a glob below it. */
export async function getTree(
  session: Session,
  { connectionId, path, pattern }: Location & { readonly pattern?: string | undefined },
  local: string,
  options: FolderOptions & { readonly isDeep: boolean },
): Promise<number> {
  const { gateway, signal } = session;
  const run = new FolderRun(session, options);
  const tree = new LocalTree(local);
  let found = 0;
  let incomplete: { readonly path: string; readonly entries: number } | undefined;
  const listed = { recursive: options.isDeep, pattern, signal };
  async function* entries(): AsyncGenerator<{ readonly file: FileInfo; readonly below: string }> {
    // Pages instead of one answer, which would hold a session of the server while files wait for theirs.
    for await (const page of gateway.files.listPages(connectionId, path === '' ? undefined : path, listed)) {
      const root = page.path.endsWith('/') ? page.path : `${page.path}/`;
      for (const file of page.files) yield { file, below: file.path.slice(root.length) };
      // Every page of a folder counts the same entries.
      if (page.incomplete !== undefined) incomplete ??= { path: page.path, entries: page.incomplete };
    }
    if (incomplete !== undefined) {
      run.fail(incomplete.path, new Error(incompleteText(incomplete.path, incomplete.entries)));
    }
  }
  try {
    if (pattern === undefined && options.dryRun !== true) await tree.makeRoot();
    await inParallel(entries(), options.transfers, async ({ file, below }) => {
      if (file.isDirectory) {
        if (pattern !== undefined || options.dryRun === true) return;
        return tree.makeFolder(below).catch((thrown: unknown) => run.fail(below, thrown));
      }
      found += 1;
      await run.file(below, file.size, () => getOne(session, { connectionId, file, below, tree, run, options }));
    });
  } finally {
    run.stop();
  }
  if (found > 0 || pattern === undefined) run.end('downloaded');
  return found;
}

interface WantedFile {
  readonly connectionId: string;
  readonly file: FileInfo;
  readonly below: string;
  readonly tree: LocalTree;
  readonly run: FolderRun;
  readonly options: FolderOptions;
}

async function getOne(session: Session, wanted: WantedFile): Promise<'done' | 'skipped'> {
  const { connectionId, file, below, tree, run, options } = wanted;
  if (file.rawName !== undefined) throw new Error('its name is not UTF-8');
  const modifiedAt = new Date(file.modifiedAt);
  const local = options.dryRun === true ? tree.pathOf(below) : await tree.place(below);
  const there = await lstat(local).catch(() => undefined);
  if (there !== undefined) {
    if (there.isDirectory()) throw new Error(`${local} is a folder`);
    if (run.rule === 'fail') throw exists(local);
    const old = { size: there.size, modifiedAt: there.mtime };
    if (isKept(run.rule, old, { size: file.size, modifiedAt })) return 'skipped';
  }
  if (options.dryRun === true) return 'done';
  const onProgress = ({ bytes }: { readonly bytes: number }): void => run.moved(below, bytes);
  await fetchFile(session, { connectionId, path: file.path }, local, {
    overwrite: run.rule !== 'fail' && run.rule !== 'skip',
    onProgress,
    // The epoch means that the server stores no time.
    modifiedAt: modifiedAt.getTime() === 0 ? undefined : modifiedAt,
  });
  return 'done';
}

interface Version {
  readonly size: number;
  readonly modifiedAt: Date;
}

/** Whether the existing file is kept. */
function isKept(rule: Rule, there: Version, offered: Version): boolean {
  if (rule === 'skip') return true;
  if (rule !== 'newer' && rule !== 'changed') return false;
  // Servers store whole seconds at best.
  const isNewer = offered.modifiedAt.getTime() - there.modifiedAt.getTime() >= 1_000;
  return !isNewer && (rule === 'newer' || there.size === offered.size);
}

export async function putTree(
  session: Session,
  local: string,
  { connectionId, path }: Location,
  options: FolderOptions,
): Promise<void> {
  const { gateway, signal } = session;
  const run = new FolderRun(session, options);
  const remotes = new RemoteFiles(session, connectionId);
  try {
    await inParallel(entriesBelow(local), options.transfers, async (entry) => {
      const { below } = entry;
      const remote = path === '' ? below : posix.join(path, below);
      if (entry.kind === 'failed') run.fail(below, entry.error);
      else if (entry.kind === 'other') run.passOver(below, 'neither a file nor a folder: passed over');
      else if (entry.kind === 'file') {
        const file = { local: join(local, below), remote, connectionId, entry, remotes, run, options };
        await run.file(below, entry.size, () => putOne(session, file));
      } else if (options.dryRun !== true && remote !== '') {
        await gateway.files.mkdir(connectionId, remote, { signal }).catch((thrown: unknown) => {
          signal.throwIfAborted();
          run.fail(below, thrown);
        });
      }
    });
  } finally {
    run.stop();
  }
  run.end('uploaded');
}

interface OfferedFile {
  readonly connectionId: string;
  readonly local: string;
  readonly remote: string;
  readonly entry: LocalFile;
  readonly remotes: RemoteFiles;
  readonly run: FolderRun;
  readonly options: FolderOptions;
}

async function putOne(session: Session, offered: OfferedFile): Promise<'done' | 'skipped'> {
  const { connectionId, local, remote, entry, remotes, run, options } = offered;
  const { below, size, modifiedAt } = entry;
  const { rule } = run;
  const filename = posix.basename(remote);
  const folder = remote.includes('/') ? { path: posix.dirname(remote) } : {};
  // The gateway applies the other rules, without a gap for other writers.
  if (rule === 'newer' || rule === 'changed' || (options.dryRun === true && rule !== 'replace')) {
    const there = await remotes.of(folder.path, filename);
    if (there !== undefined && rule === 'fail') throw exists(remote);
    if (there !== undefined && isKept(rule, there, entry)) return 'skipped';
  }
  if (options.dryRun === true) return 'done';
  try {
    await uploadFile(session, local, connectionId, {
      ...folder,
      filename,
      size,
      mtime: modifiedAt.toISOString(),
      signal: session.signal,
      overwrite: rule !== 'fail' && rule !== 'skip',
      onProgress: ({ bytes }) => run.moved(below, bytes),
    });
  } catch (thrown) {
    if (rule === 'skip' && thrown instanceof FtgError && thrown.skipped) return 'skipped';
    throw thrown;
  }
  return 'done';
}

interface LocalFile {
  readonly kind: 'file';
  readonly below: string;
  readonly size: number;
  readonly modifiedAt: Date;
}

type LocalEntry =
  | LocalFile
  | { readonly kind: 'empty' | 'other'; readonly below: string }
  | { readonly kind: 'failed'; readonly below: string; readonly error: unknown };

/** All entries below a local folder, with slashes; links are not followed. */
async function* entriesBelow(root: string, folder = ''): AsyncGenerator<LocalEntry, void> {
  let isEmpty = true;
  try {
    for await (const { name } of await opendir(join(root, folder))) {
      isEmpty = false;
      const path = folder === '' ? name : `${folder}/${name}`;
      const facts = await lstat(join(root, path)).catch((error: unknown) => ({ error }));
      if ('error' in facts) yield { kind: 'failed', below: path, error: facts.error };
      else if (facts.isDirectory()) yield* entriesBelow(root, path);
      else if (facts.isFile()) yield { kind: 'file', below: path, size: facts.size, modifiedAt: facts.mtime };
      else yield { kind: 'other', below: path };
    }
  } catch (error) {
    // The named folder itself must be readable.
    if (folder === '') throw error;
    yield { kind: 'failed', below: folder, error };
    return;
  }
  if (isEmpty) yield { kind: 'empty', below: folder };
}

/** The files of a remote folder; only the folder of the last request is cached. */
class RemoteFiles {
  readonly #session: Session;
  readonly #connectionId: string;
  #folder: string | undefined | null = null;
  #files: Promise<ReadonlyMap<string, Version>> = Promise.resolve(new Map());

  constructor(session: Session, connectionId: string) {
    this.#session = session;
    this.#connectionId = connectionId;
  }

  async of(folder: string | undefined, name: string): Promise<Version | undefined> {
    if (this.#folder !== folder) {
      this.#folder = folder;
      this.#files = this.#read(folder);
    }
    return (await this.#files).get(name);
  }

  async #read(folder: string | undefined): Promise<ReadonlyMap<string, Version>> {
    const { gateway, signal } = this.#session;
    try {
      const { files } = await gateway.files.list(this.#connectionId, folder, { signal });
      return new Map(files.map(({ name, size, modifiedAt }) => [name, { size, modifiedAt: new Date(modifiedAt) }]));
    } catch (thrown) {
      if (thrown instanceof FtgError && thrown.code === 'not_found') return new Map();
      throw thrown;
    }
  }
}
