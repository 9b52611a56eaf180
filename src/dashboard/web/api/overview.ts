/** Today's figures and the list of problems. The shell and the overview share one cached read. */
import type { UseQueryResult } from '@tanstack/react-query';
import { timeZone } from '../preferences.ts';
import { withQuery } from './client.ts';
import { useRead } from './hooks.ts';
import type { Overview } from './types.ts';

export const OVERVIEW = '/manage/overview';
const PATH = withQuery(OVERVIEW, { timeZone });
const EVERY_MS = 60_000;

export function useOverview(everyMs = EVERY_MS): UseQueryResult<Overview, Error> {
  return useRead(PATH, { everyMs });
}
