/** Units of time, in milliseconds, and bounds that forms also check. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The most bytes of a brand's logo. */
export const LOGO_BYTES = 64 * 1024;
