/**
 * Unfinished large uploads, kept in this browser: their URL and their file. An entry is no secret, because its URL only
 * works
 * after a login. Entries are removed when the upload is done or the user logs out.
 */
import { DAY_MS } from '../../../../contract/units.ts';
import { accountNow } from '../../api/hooks.ts';

type Ask = (wanted: { readonly mode: 'read' }) => Promise<PermissionState>;

/** Some browsers lack these methods. */
type FileHandle = FileSystemFileHandle & { readonly queryPermission?: Ask; readonly requestPermission?: Ask };

/** The file and its destination. */
interface UploadPlace {
  readonly connectionId: string;
  readonly folder: string;
  readonly name: string;
  readonly overwrite: boolean;
  readonly size: number;
  readonly lastModified: number;
}

export interface KeptUpload extends UploadPlace {
  readonly key: string;
  readonly account: string;
  readonly url: string;
  readonly begunAt: number;
  readonly handle: FileHandle | undefined;
}

const DATABASE = 'ftg-uploads';
const STORE = 'uploads';
/** The gateway has discarded the upload long before. */
const OLDEST_MS = 7 * DAY_MS;

export function keyOf({ connectionId, folder, name, overwrite, size, lastModified }: UploadPlace): string {
  return JSON.stringify([accountNow(), connectionId, folder, name, overwrite, size, lastModified]);
}

export async function keepUpload(place: UploadPlace, url: string, handle: FileHandle | undefined): Promise<void> {
  const { connectionId, folder, name, overwrite, size, lastModified } = place;
  const at = { connectionId, folder, name, overwrite, size, lastModified };
  const kept = { ...at, key: keyOf(place), account: accountNow(), url, begunAt: Date.now(), handle };
  await inStore('readwrite', (store) => store.put(kept));
}

export async function keptUpload(place: UploadPlace): Promise<KeptUpload | undefined> {
  return inStore<KeptUpload | undefined>('readonly', (store) => store.get(keyOf(place)));
}

export async function forgetUpload(key: string): Promise<void> {
  await inStore('readwrite', (store) => store.delete(key));
}

export async function forgetUploads(): Promise<void> {
  await inStore('readwrite', (store) => store.clear());
}

/** Uploads of this account that no page is sending. */
export async function interruptedUploads(): Promise<readonly KeptUpload[]> {
  const all = (await inStore<KeptUpload[]>('readonly', (store) => store.getAll())) ?? [];
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  const sent = new Set(held.map(({ name }) => name));
  const isOld = ({ begunAt }: KeptUpload): boolean => begunAt < Date.now() - OLDEST_MS;
  for (const one of all.filter(isOld)) await forgetUpload(one.key);
  return all.filter((one) => one.account === accountNow() && !isOld(one) && !sent.has(one.key));
}

/** Holds a lock that other pages can see. Browsers provide locks over TLS and on localhost only. */
export async function whileSending<T>(key: string, work: () => Promise<T>): Promise<T> {
  return navigator.locks === undefined ? work() : navigator.locks.request(key, { mode: 'shared' }, work);
}

/** Undefined if the browser stores nothing. An upload then lasts as long as its page. */
async function inStore<T>(
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => IDBRequest,
): Promise<T | undefined> {
  try {
    const database = await answerOf<IDBDatabase>(opening());
    try {
      return await answerOf<T>(ask(database.transaction(STORE, mode).objectStore(STORE)));
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

function opening(): IDBOpenDBRequest {
  const opened = indexedDB.open(DATABASE, 1);
  opened.onupgradeneeded = () => opened.result.createObjectStore(STORE, { keyPath: 'key' });
  return opened;
}

function answerOf<T>(asked: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result as T);
    asked.onerror = () => reject(asked.error ?? new Error('not kept'));
  });
}
