/** Which names a folder holds, as far as the page has listed it. */
import { queries } from '../../api/hooks.ts';
import type { Listing } from '../../api/types.ts';
import { listingOf } from './use-listing.ts';

/** Made once of each listing: thousands of files may go into a folder of thousands. */
const namesOf = new WeakMap<Listing, ReadonlySet<string>>();

interface Place {
  readonly connectionId: string;
  readonly folder: string;
  readonly name: string;
}

/**
 * False where nobody knows; the server then says so. The folder is listed again where its listing is older than `since`,
 * in ms since 1970: the name may be free by now.
 */
export async function isKnownTaken({ connectionId, folder, name }: Place, since: number): Promise<boolean> {
  const options = listingOf(connectionId, folder);
  const listing = queries.getQueryData<Listing>(options.queryKey);
  if (listing === undefined || !isIn(listing, name)) return false;
  const now = await queries.fetchQuery({ ...options, staleTime: Date.now() - since }).catch(() => undefined);
  return now !== undefined && isIn(now, name);
}

function isIn(listing: Listing, name: string): boolean {
  const names = namesOf.get(listing) ?? new Set(listing.files.map((file) => file.name));
  namesOf.set(listing, names);
  return names.has(name);
}
