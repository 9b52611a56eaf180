/** Today, and what needs a person: read under one key by the shell and by the overview. */
import type { UseQueryResult } from '@tanstack/react-query';
import { timeZone } from '../preferences.ts';
import { withQuery } from './client.ts';
import { useRead } from './hooks.ts';
import type { Overview } from './types.ts';

export const OVERVIEW = '/manage/overview';
const PATH = withQuery(OVERVIEW, { timeZone });
const EVERY_MS = 60_000;

export function useOverview(everyMs = EVERY_MS): UseQueryResult<Overview, Error> {
  return useRead<Overview>(PATH, { everyMs });
}
