/** Uploads that another visit of the page has begun, and that may go on here. */
import { useSyncExternalStore } from 'react';
import { interruptedUploads, type KeptUpload } from './kept-uploads.ts';

let interrupted: readonly KeptUpload[] = [];
const listeners = new Set<() => void>();

export function useInterrupted(): readonly KeptUpload[] {
  return useSyncExternalStore(subscribe, () => interrupted);
}

/** Resolves to those whose file this browser still may read. */
export async function findInterrupted(): Promise<readonly (readonly [KeptUpload, File])[]> {
  update(await interruptedUploads());
  const readable: (readonly [KeptUpload, File])[] = [];
  for (const kept of interrupted) {
    const state = await kept.handle?.queryPermission?.({ mode: 'read' });
    const file = state === 'granted' ? await fileOf(kept) : undefined;
    if (file !== undefined) readable.push([kept, file]);
  }
  return readable;
}

/** Asks whoever sits there; undefined = the file has to be chosen again. */
export async function askForFile(kept: KeptUpload): Promise<File | undefined> {
  const state = await kept.handle?.requestPermission?.({ mode: 'read' });
  return state === 'granted' ? fileOf(kept) : undefined;
}

/** By its length and its time: of the rest the server knows nothing before it has all. */
export function isSameFile({ size, lastModified }: KeptUpload, file: File): boolean {
  return file.size === size && file.lastModified === lastModified;
}

export function noLongerInterrupted(key: string): void {
  if (interrupted.some((one) => one.key === key)) update(interrupted.filter((one) => one.key !== key));
}

export function forgetInterrupted(): void {
  update([]);
}

async function fileOf(kept: KeptUpload): Promise<File | undefined> {
  const file = await kept.handle?.getFile().catch(() => undefined);
  return file !== undefined && isSameFile(kept, file) ? file : undefined;
}

function update(next: readonly KeptUpload[]): void {
  interrupted = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
