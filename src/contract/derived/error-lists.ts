/** Codes by the reaction of programs. Bundles for browsers contain only the lists (src/build/derived.ts). */
import { type ErrorCode, errorCodes } from '../errors.js';

/** Refused before anything began: every call may be retried. */
export const NOT_BEGUN: readonly ErrorCode[] = errorCodes(({ repeat }) => repeat === 'always');

/** May be temporary, even after a beginning: idempotent calls may be retried. */
export const PASSING: readonly ErrorCode[] = errorCodes(({ repeat }) => repeat !== undefined);

/** The remedy is on the page of the connection. */
export const FIXED_AT_CONNECTION: readonly ErrorCode[] = errorCodes(({ fixedAt }) => fixedAt === 'connection');

/** The remedy is another plan. */
export const FIXED_BY_PLAN: readonly ErrorCode[] = errorCodes(({ fixedAt }) => fixedAt === 'plan');
