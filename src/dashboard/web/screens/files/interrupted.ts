/** Uploads that another visit of the page has begun, and that may go on here. */
import { store } from '../../store.ts';
import { interruptedUploads, type KeptUpload } from './kept-uploads.ts';

const interrupted = store<readonly KeptUpload[]>([]);
export const useInterrupted = interrupted.use;

/** Resolves to those whose file this browser still may read. */
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
