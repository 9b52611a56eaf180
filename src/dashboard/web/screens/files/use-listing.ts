/** What is in a folder, as the gateway tells it now. */
import { queryOptions, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { request, segment, withQuery } from '../../api/client.ts';
import type { Listing } from '../../api/types.ts';

export function useListing(
  connectionId: string,
  path: string | undefined,
  rawName: string | undefined,
): UseQueryResult<Listing, Error> {
  return useQuery(listingOf(connectionId, path, rawName));
}

export function listingOf(connectionId: string, path: string | undefined, rawName?: string) {
  const address = withQuery(`/api/list/${segment(connectionId)}`, { path, rawName });
  return queryOptions<Listing, Error>({
    queryKey: [address],
    queryFn: ({ signal }) => request<Listing>('GET', address, undefined, signal),
    // To compare two lists of 100,000 entries takes longer than to draw the new one.
    structuralSharing: false,
  });
}
