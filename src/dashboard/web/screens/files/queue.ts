/** Uploads and copies started on this page: a few at once, each with progress, retry and cancel. */
import { useSyncExternalStore } from 'react';
import { ApiError, fetchAnswer, segment, withQuery } from '../../api/client.ts';
import { refresh } from '../../api/hooks.ts';
import { sendBytes } from '../../api/send.ts';
import { RESUMABLE_BYTES, uploadResumable } from './resumable.ts';

type Work =
  | {
      readonly kind: 'upload';
      readonly file: File;
      readonly connectionId: string;
      readonly folder: string;
      readonly name: string;
    }
  | {
      readonly kind: 'copy';
      readonly name: string;
      readonly from: { readonly connectionId: string; readonly path: string };
      readonly connectionId: string;
      readonly folder: string;
      readonly path: string;
    };

/** exists = the server has a file of this name, and the person decides. */
type TaskState = 'waiting' | 'running' | 'done' | 'failed' | 'exists' | 'cancelled';

export interface Task {
  readonly id: number;
  readonly work: Work;
  readonly state: TaskState;
  readonly sentBytes: number;
  readonly totalBytes: number | undefined;
  readonly bytesPerSecond: number;
  readonly error: string | undefined;
}

const AT_ONCE = 3;
const REFRESH_MS = 1_000;
/** Weight of the latest measurement in the speed that is shown. */
const SMOOTHING = 0.3;
const MEASURE_MS = 250;

let tasks: readonly Task[] = [];
let lastId = 0;
let isAnnounced = false;
const running = new Map<number, AbortController>();
const listeners = new Set<() => void>();

export function useTasks(): readonly Task[] {
  return useSyncExternalStore(subscribe, () => tasks);
}

export function isActive({ state }: Task): boolean {
  return state === 'waiting' || state === 'running';
}

export function addTasks(works: readonly Work[]): void {
  const added = works.map((work): Task => ({
    id: ++lastId,
    work,
    state: 'waiting',
    sentBytes: 0,
    totalBytes: work.kind === 'upload' ? work.file.size : undefined,
    bytesPerSecond: 0,
    error: undefined,
  }));
  update([...tasks, ...added]);
  startNext();
}

export function retryTask(id: number, overwrite: boolean): void {
  change(id, { state: 'waiting', sentBytes: 0, bytesPerSecond: 0, error: undefined });
  if (overwrite) replacing.add(id);
  startNext();
}

export function cancelTask(id: number): void {
  const abort = running.get(id);
  if (abort === undefined) change(id, { state: 'cancelled' });
  else abort.abort();
}

export function clearTasks(): void {
  update(tasks.filter(isActive));
}

/** Tasks whose file may take the place of another. */
const replacing = new Set<number>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function update(next: readonly Task[]): void {
  tasks = next;
  const isBusy = tasks.some(isActive);
  if (isBusy !== isAnnounced) {
    isAnnounced = isBusy;
    if (isBusy) addEventListener('beforeunload', askBeforeLeaving);
    else removeEventListener('beforeunload', askBeforeLeaving);
  }
  for (const listener of listeners) listener();
}

function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function change(id: number, to: Partial<Task>): void {
  update(tasks.map((task) => (task.id === id ? { ...task, ...to } : task)));
}

function startNext(): void {
  for (const task of tasks) {
    if (running.size >= AT_ONCE) return;
    if (task.state === 'waiting') void run(task);
  }
}

async function run({ id, work }: Task): Promise<void> {
  const abort = new AbortController();
  running.set(id, abort);
  change(id, { state: 'running' });
  const overwrite = replacing.has(id);
  try {
    if (work.kind === 'upload') await upload(id, work, overwrite, abort.signal);
    else await copy(work, overwrite, abort.signal);
    change(id, { state: 'done' });
    refreshSoon(`/api/list/${segment(work.connectionId)}`);
  } catch (error) {
    if (abort.signal.aborted) change(id, { state: 'cancelled', bytesPerSecond: 0 });
    else if (error instanceof ApiError && error.code === 'already_exists')
      change(id, { state: 'exists', bytesPerSecond: 0 });
    else
      change(id, { state: 'failed', bytesPerSecond: 0, error: error instanceof Error ? error.message : String(error) });
  } finally {
    running.delete(id);
    startNext();
  }
}

async function upload(
  id: number,
  work: Extract<Work, { kind: 'upload' }>,
  overwrite: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { connectionId, folder: path, name: filename, file } = work;
  const onBytes = measuring(id, file.size);
  if (file.size >= RESUMABLE_BYTES) {
    try {
      return await uploadResumable({ ...work, overwrite, signal, onBytes });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'resume_unsupported') throw error;
    }
  }
  const target = withQuery(`/api/upload/${segment(connectionId)}`, { path, filename, overwrite: String(overwrite) });
  const headers = { 'Content-Type': 'application/octet-stream' };
  await sendBytes({ method: 'POST', target, headers, body: file, signal, onBytes });
}

/** Shows how far it is, and how fast. */
function measuring(id: number, size: number): (sent: number) => void {
  let measured = { at: performance.now(), bytes: 0 };
  let bytesPerSecond = 0;
  return (sentBytes) => {
    const now = performance.now();
    if (now - measured.at < MEASURE_MS && sentBytes < size) return;
    const latest = (Math.max(0, sentBytes - measured.bytes) / Math.max(1, now - measured.at)) * 1_000;
    bytesPerSecond = bytesPerSecond === 0 ? latest : SMOOTHING * latest + (1 - SMOOTHING) * bytesPerSecond;
    measured = { at: now, bytes: sentBytes };
    change(id, { sentBytes, bytesPerSecond });
  };
}

async function copy(work: Extract<Work, { kind: 'copy' }>, overwrite: boolean, signal: AbortSignal): Promise<void> {
  const body = {
    source_connection_id: work.from.connectionId,
    source_path: work.from.path,
    dest_connection_id: work.connectionId,
    dest_path: work.path,
    overwrite,
  };
  await fetchAnswer('POST', '/api/copy', body, signal);
}

let refreshTimer: ReturnType<typeof setTimeout> | undefined;
const stale = new Set<string>();

/** One new listing for many files that arrive together. */
function refreshSoon(path: string): void {
  stale.add(path);
  refreshTimer ??= setTimeout(() => {
    refreshTimer = undefined;
    void refresh(...stale);
    stale.clear();
  }, REFRESH_MS);
}

/** Files of a drop, those in dropped folders with their path below the drop. */
export interface DroppedFile {
  readonly file: File;
  /** Folder below the one dropped on; "" = that one. */
  readonly below: string;
}

export async function droppedFiles(transfer: DataTransfer): Promise<readonly DroppedFile[]> {
  // Entries have to be taken while the event lasts.
  const entries = [...transfer.items].filter(({ kind }) => kind === 'file').map((item) => item.webkitGetAsEntry());
  const loose = [...transfer.files];
  if (entries.every((entry) => entry === null)) return loose.map((file) => ({ file, below: '' }));
  const found: DroppedFile[] = [];
  for (const entry of entries) if (entry !== null) await walk(entry, '', found);
  return found;
}

async function walk(entry: FileSystemEntry, below: string, found: DroppedFile[]): Promise<void> {
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    found.push({ file, below });
  } else if (isFolder(entry)) {
    const reader = entry.createReader();
    const deeper = below === '' ? entry.name : `${below}/${entry.name}`;
    // A reader gives a hundred entries at a time, and none at the end.
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0) return;
      for (const child of some) await walk(child, deeper, found);
    }
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
