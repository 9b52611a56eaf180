/** How far back figures go. */

/** The spans of charts, in days. */
export const RANGE_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;
export type Range = keyof typeof RANGE_DAYS;
export const RANGES = Object.keys(RANGE_DAYS) as readonly Range[];
export const DEFAULT_RANGE = '24h' satisfies Range;

/** The most days of the health of connections. */
export const HEALTH_DAYS = 90;
