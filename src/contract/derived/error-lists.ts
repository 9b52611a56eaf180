/** Codes by what a program does about them. Bundles for browsers have the lists alone (src/build/derived.ts). */
import { type ErrorCode, errorCodes } from '../errors.js';

/** Refused before anything began: every call may be repeated. */
export const NOT_BEGUN: readonly ErrorCode[] = errorCodes(({ repeat }) => repeat === 'always');

/** May pass, whether begun or not: calls may be repeated whose second run ends as the first would have. */
export const PASSING: readonly ErrorCode[] = errorCodes(({ repeat }) => repeat !== undefined);

/** Their remedy is on the page of the connection. */
export const FIXED_AT_CONNECTION: readonly ErrorCode[] = errorCodes(({ fixedAt }) => fixedAt === 'connection');

/** Their remedy is another plan. */
export const FIXED_BY_PLAN: readonly ErrorCode[] = errorCodes(({ fixedAt }) => fixedAt === 'plan');
