/** Uploads of earlier page visits that may be resumed here. */
import { store } from '../../store.ts';
import { interruptedUploads, type KeptUpload } from './kept-uploads.ts';

const interrupted = store<readonly KeptUpload[]>([]);
export const useInterrupted = interrupted.use;

/** Resolves to the uploads whose file this browser may still read. */
export async function findInterrupted(): Promise<readonly (readonly [KeptUpload, File])[]> {
  interrupted.set(await interruptedUploads());
  const readable: (readonly [KeptUpload, File])[] = [];
  for (const kept of interrupted.get()) {
    const state = await kept.handle?.queryPermission?.({ mode: 'read' });
    const file = state === 'granted' ? await fileOf(kept) : undefined;
    if (file !== undefined) readable.push([kept, file]);
  }
  return readable;
}

/** Asks the user for access to the file. Undefined = the user has to choose it again. */
export async function askForFile(kept: KeptUpload): Promise<File | undefined> {
  const state = await kept.handle?.requestPermission?.({ mode: 'read' });
  return state === 'granted' ? fileOf(kept) : undefined;
}

/** Compares size and time. The server cannot compare the content before it has all of it. */
export function isSameFile({ size, lastModified }: KeptUpload, file: File): boolean {
  return file.size === size && file.lastModified === lastModified;
}

export function noLongerInterrupted(key: string): void {
  const all = interrupted.get();
  if (all.some((one) => one.key === key)) interrupted.set(all.filter((one) => one.key !== key));
}

export function forgetInterrupted(): void {
  interrupted.set([]);
}

async function fileOf(kept: KeptUpload): Promise<File | undefined> {
  const file = await kept.handle?.getFile().catch(() => undefined);
  return file !== undefined && isSameFile(kept, file) ? file : undefined;
}
