/** The names in a folder, from the page's listing. Without one, the folder is listed once per batch. */
import { request, segment, withQuery } from '../../api/client.ts';
import { queries } from '../../api/hooks.ts';
import type { Listing } from '../../api/types.ts';
import type { Batch } from './queue-types.ts';
import { listingOf } from './use-listing.ts';

/** One set per listing, because thousands of files may go into a folder of thousands. */
const namesOf = new WeakMap<Listing, ReadonlySet<string>>();
/** Folders that no screen has listed. */
const namesByBatch = new WeakMap<Batch, Map<string, Promise<ReadonlySet<string>>>>();

interface Place {
  readonly connectionId: string;
  readonly folder: string;
  readonly name: string;
}

/**
 * False if it is unknown; the server then answers. If the listing is older than `batch`, the folder is listed again,
 * because the
 * name may be free by now.
 */
export async function isKnownTaken({ connectionId, folder, name }: Place, batch: Batch): Promise<boolean> {
  const options = listingOf(connectionId, folder);
  const listing = queries.getQueryData<Listing>(options.queryKey);
  if (listing === undefined) return (await namesIn(connectionId, folder, batch)).has(name);
  if (!isIn(listing, name)) return false;
  const now = await queries.fetchQuery({ ...options, staleTime: Date.now() - batch.begunAt }).catch(() => undefined);
  return now !== undefined && isIn(now, name);
}

function namesIn(connectionId: string, folder: string, batch: Batch): Promise<ReadonlySet<string>> {
  const byFolder = namesByBatch.get(batch) ?? new Map<string, Promise<ReadonlySet<string>>>();
  namesByBatch.set(batch, byFolder);
  const at = JSON.stringify([connectionId, folder]);
  const names = byFolder.get(at) ?? listNames(connectionId, folder).catch(() => new Set<string>());
  byFolder.set(at, names);
  return names;
}

/** Asks whether the folder exists before listing it: a failed listing would appear in the history. */
async function listNames(connectionId: string, path: string): Promise<ReadonlySet<string>> {
  const asked = withQuery(`/api/exists/${segment(connectionId)}`, { path });
  if (!(await request('GET', asked)).exists) return new Set();
  const { files } = await request('GET', withQuery(`/api/list/${segment(connectionId)}`, { path }));
  return new Set(files.map(({ name }) => name));
}

function isIn(listing: Listing, name: string): boolean {
  const names = namesOf.get(listing) ?? new Set(listing.files.map((file) => file.name));
  namesOf.set(listing, names);
  return names.has(name);
}
