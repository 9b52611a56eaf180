/** The queue's operations for the Files screen and the panel. */
import { Turns } from '../../../../base/turns.ts';
import { visible } from '../../../../base/visible.ts';
import type { NewJob } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { showToast } from '../../toasts.ts';
import { droppedFiles, type DroppedFile, pickedFiles, UnreadablePath } from '../../sending/dropped.ts';
import { forgetInterrupted } from './interrupted.ts';
import { forgetUploads, type KeptUpload } from './kept-uploads.ts';
import { joinPath } from '../../ui/paths.ts';
import { abortTask, startNext } from './queue-run.ts';
import { change, drop, putWorks, taskOf, tasksIn, whileFinding } from './queue-store.ts';
import { type Batch, type ConflictRule, type Entry, type Task, TASK_STATES, type Work } from './queue-types.ts';

interface Target {
  readonly connectionId: string;
  readonly folder: string;
}

/** Resumes an interrupted upload with the same file. */
export function enqueueKept({ connectionId, folder, name, overwrite, handle }: KeptUpload, file: File): void {
  const rule = overwrite ? ('replace' as const) : undefined;
  add([{ kind: 'upload', file, handle, connectionId, folder, name }], newBatch(), rule);
}

/** Must be called during the event. */
export function enqueueDrop(connectionId: string, folder: string, transfer: DataTransfer): void {
  void enqueueUploads(connectionId, folder, droppedFiles(transfer));
}

/** The file is not copied: the new one reads from it. */
export function enqueueNamed(connectionId: string, folder: string, file: File, name: string): void {
  const { type, lastModified } = file;
  const named = new File([file], name, { type, lastModified });
  void enqueueUploads(connectionId, folder, [[{ file: named, below: '', handle: undefined }]]);
}

/** Adds the files of an input for files or folders. */
export function enqueuePicked(connectionId: string, folder: string, files: FileList): void {
  void enqueueUploads(connectionId, folder, [pickedFiles(files)]);
}

/**
 * Uploads start while the rest of a large folder is still being scanned. Files are added in turns: the page waits each
 * time that it asks the browser for the size of one.
 */
async function enqueueUploads(
  connectionId: string,
  folder: string,
  found: AsyncIterable<readonly DroppedFile[]> | Iterable<readonly DroppedFile[]>,
): Promise<void> {
  const batch = newBatch();
  const turns = new Turns();
  try {
    await whileFinding(async () => {
      for await (const files of found) {
        for (const file of files) {
          add([uploadOf(connectionId, folder, file)], batch);
          if (turns.isOver()) await turns.next();
        }
      }
    });
  } catch (error) {
    if (!(error instanceof UnreadablePath)) throw error;
    showToast(t.queue.unreadable(visible(error.path)), 'bad');
  }
}

export function enqueueDelete(connectionId: string, folder: string, entries: readonly Entry[]): void {
  const works = entries.map((entry): Work => {
    const at = { connectionId, folder, name: entry.name };
    if (!entry.isDirectory) return { ...at, kind: 'delete', entry };
    return { ...at, kind: 'job', order: { type: 'delete', source: sourceOf(connectionId, entry) } };
  });
  add(works);
}

export function enqueueMove(connectionId: string, folder: string, entries: readonly Entry[]): void {
  add(entries.map((entry) => ({ kind: 'move', connectionId, folder, name: entry.name, entry })));
}

/** `onConflict` is for files in folders. For single files the user is asked. */
export function enqueueCopy(
  connectionId: string,
  entries: readonly Entry[],
  to: Target,
  onConflict: NonNullable<NewJob['onConflict']>,
): void {
  const works = entries.map((entry): Work => {
    const at = { ...to, name: entry.name };
    if (!entry.isDirectory) return { ...at, kind: 'copy', from: { connectionId, entry } };
    const source = sourceOf(connectionId, entry);
    const destination = { connectionId: to.connectionId, path: joinPath(to.folder, entry.name) };
    return { ...at, kind: 'job', order: { type: 'copy', source, destination, onConflict } };
  });
  add(works);
}

function sourceOf(connectionId: string, { path, rawName }: Entry): NewJob['source'] {
  return { connectionId, path, ...(rawName === undefined ? {} : { rawName }) };
}

/** Starts the tasks again with their original work. */
export function retryTasks(tasks: readonly Task[]): void {
  again(tasks, {});
}

/** Applies a decision to tasks whose name is taken. With `forAll` it also applies to later conflicts of the batch. */
export function decide(tasks: readonly Task[], rule: ConflictRule, forAll: boolean): void {
  for (const { batch } of forAll ? tasks : []) batch.rule = rule;
  if (rule === 'skip') for (const { id } of tasks) change(id, { state: 'skipped' });
  else again(tasks, { rule });
}

export function conflictsOf(batch: Batch): readonly Task[] {
  return tasksIn('exists').filter((task) => task.batch === batch);
}

export function cancelTask(id: number): void {
  const task = taskOf(id);
  if (task?.state === 'running') abortTask(id);
  else if (task !== undefined) change(id, { state: 'cancelled' });
}

export function cancelAll(): void {
  for (const { id } of tasksIn('waiting', 'running', 'exists')) cancelTask(id);
}

export function retryFailed(): void {
  again(tasksIn('failed'), {});
}

export function clearDone(): void {
  drop(tasksIn('done', 'skipped', 'cancelled'));
}

let owner: string | undefined;

/** Hides the tasks of the previous account from another one. */
export function showTo(account: string): void {
  if (owner !== undefined && owner !== account) empty();
  owner = account;
}

/** Removes all data of the account on log-out. */
export async function leaveQueue(): Promise<void> {
  empty();
  await forgetUploads();
}

function empty(): void {
  forgetInterrupted();
  cancelAll();
  drop(tasksIn(...TASK_STATES));
}

export function dismiss(tasks: readonly Task[]): void {
  drop(tasks);
}

function newBatch(): Batch {
  return { begunAt: Date.now(), rule: undefined };
}

function add(works: readonly Work[], batch = newBatch(), rule?: ConflictRule): void {
  startNext(putWorks(works, batch, rule));
}

function again(tasks: readonly Task[], to: { readonly rule?: ConflictRule }): void {
  for (const { id } of tasks)
    change(id, { ...to, state: 'waiting', sentBytes: 0, bytesPerSecond: 0, error: undefined, busyAnswers: 0 });
  startNext(tasks);
}

function uploadOf(connectionId: string, folder: string, { file, below, handle }: DroppedFile): Work {
  const target = below === '' ? folder : joinPath(folder, below);
  return { kind: 'upload', file, handle, connectionId, folder: target, name: file.name };
}
