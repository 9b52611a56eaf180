/**
 * The failures that the sandbox has on purpose: the names below /fail, and what a client of the gateway sees for each.
 */
import { KIB, MIB } from '../contract/units.js';

/** The number after the name of a failure. */
export type Failure =
  | { readonly kind: 'cut'; readonly bytes: number }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number }
  | { readonly kind: 'grow'; readonly seconds: number }
  | { readonly kind: 'disk-full' | 'new-host-key' | 'permission' | 'stall' };

interface Row {
  /** The name in a listing of /fail. */
  readonly name: string;
  readonly pattern: RegExp;
  /** Undefined if the number is out of bounds. */
  readonly read: (amount: number, unit: string) => Failure | undefined;
  readonly bounds?: string;
  readonly does: string;
  /** `X-Error-Code` of the failed request. */
  readonly code: string | undefined;
}

const isWithin = (value: number, least: number, most: number): boolean => value >= least && value <= most;
const always = (failure: Failure) => (): Failure => failure;

export const FAILURES: readonly Row[] = [
  {
    name: 'cut-at-1MB',
    pattern: /^cut-at-(\d{1,6})(KB|MB)$/,
    read: (amount, unit) => {
      const bytes = amount * (unit === 'MB' ? MIB : KIB);
      return isWithin(bytes, 256 * KIB, 100 * MIB) ? { kind: 'cut', bytes } : undefined;
    },
    bounds: '256KB to 100MB',
    does: 'the server closes the channel once this much of a file has moved',
    code: 'connection_lost',
  },
  {
    name: 'disk-full',
    pattern: /^disk-full$/,
    read: always({ kind: 'disk-full' }),
    does: 'the server has no space for new files and folders',
    code: 'no_space',
  },
  {
    name: 'grow-for-30s',
    pattern: /^grow-for-(\d{1,3})(s)$/,
    read: (seconds) => (isWithin(seconds, 1, 300) ? { kind: 'grow', seconds } : undefined),
    bounds: '1s to 300s',
    does: 'a file grows for this long from the first look at it; one that is uploaded is larger than what was sent',
    code: 'size_mismatch',
  },
  {
    name: 'new-host-key',
    pattern: /^new-host-key$/,
    read: always({ kind: 'new-host-key' }),
    does: 'the server ends all sessions and shows another host key at the next login; then the old one is back',
    code: 'host_key_mismatch',
  },
  {
    name: 'permission',
    pattern: /^permission$/,
    read: always({ kind: 'permission' }),
    does: 'the login may neither list, read, write nor delete',
    code: 'permission_denied',
  },
  {
    name: 'slow-50KBs',
    pattern: /^slow-(\d{1,5})(KBs)$/,
    read: (amount) => (isWithin(amount, 10, 10_000) ? { kind: 'slow', bytesPerSecond: amount * KIB } : undefined),
    bounds: '10KBs to 10000KBs',
    does: 'bytes move at this speed, for 5 minutes at most',
    code: undefined,
  },
  {
    name: 'stall',
    pattern: /^stall$/,
    read: always({ kind: 'stall' }),
    does: 'the server stops answering reads and writes of a file',
    code: 'stall_timeout',
  },
];

/** undefined = there is no failure of this name. */
export function failureNamed(name: string): Failure | undefined {
  for (const { pattern, read } of FAILURES) {
    const found = pattern.exec(name);
    if (found !== null) return read(Number(found[1]), found[2] ?? '');
  }
  return undefined;
}

/** /fail/README.txt */
export function readme(fileName: string): string {
  const lines = FAILURES.map(
    ({ name, bounds, does, code }) =>
      `${name.padEnd(14)}${does}${bounds === undefined ? '' : ` (${bounds})`}: ${code ?? 'no error'}\n`,
  );
  return `Each name is a folder that fails on purpose. Upload into it, list it, watch it, or download its file
${fileName}; a download also takes the folder's own path. The words behind the colon are the X-Error-Code
that a client of the gateway sees. What you upload here is thrown away.

${lines.join('')}`;
}
