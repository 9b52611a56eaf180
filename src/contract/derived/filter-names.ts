/** The filters of each list of the dashboard. Its page contains only these names (src/build/derived.ts). */
import { auditFilters, deliveryFilters, feedFilters, jobFilters, managedTransferFilters } from '../filters.js';

const namesOf = <F extends object>(filters: F): readonly (keyof F & string)[] =>
  Object.keys(filters) as (keyof F & string)[];

export const FILTER_NAMES = {
  audit: namesOf(auditFilters),
  deliveries: namesOf(deliveryFilters),
  events: namesOf(feedFilters),
  jobs: namesOf(jobFilters),
  transfers: namesOf(managedTransferFilters),
};
