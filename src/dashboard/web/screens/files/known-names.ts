/** Which names a folder holds, as far as the page has listed it. */
import { withQuery, segment } from '../../api/client.ts';
import { queries } from '../../api/hooks.ts';
import type { Listing } from '../../api/types.ts';

/** Made once of each listing: thousands of files may go into a folder of thousands. */
const namesOf = new WeakMap<Listing, ReadonlySet<string>>();

interface Place {
  readonly connectionId: string;
  readonly folder: string;
  readonly name: string;
}

/** False where nobody knows; the server then says so. */
export function isKnownTaken({ connectionId, folder, name }: Place): boolean {
  const address = withQuery(`/api/list/${segment(connectionId)}`, { path: folder });
  const listing = queries.getQueryData<Listing>([address]);
  if (listing === undefined) return false;
  const names = namesOf.get(listing) ?? new Set(listing.files.map((file) => file.name));
  namesOf.set(listing, names);
  return names.has(name);
}
