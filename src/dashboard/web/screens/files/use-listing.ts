/** Reads the current listing of a folder. */
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
    queryFn: ({ signal }) => request('GET', address, undefined, signal),
    // Comparing two lists of 100,000 entries takes longer than drawing the new one.
    structuralSharing: false,
  });
}
