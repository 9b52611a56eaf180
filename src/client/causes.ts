/** The causes of Node.js's "fetch failed" and browsers' "Failed to fetch". */

/** Why there is no complete answer. `unknown` if the platform gives no reason; browsers never do. */
export type NetworkReason =
  'refused' | 'unreachable' | 'dns' | 'tls' | 'timeout' | 'closed' | 'redirect' | 'cors_or_unreachable' | 'unknown';

/** Error codes of Node.js, OpenSSL and undici; the first matching pattern counts. */
const KNOWN: readonly (readonly [RegExp, NetworkReason, (at: string) => string])[] = [
  [/^ECONNREFUSED$/, 'refused', (at) => `connection refused by ${at}: is the gateway running there?`],
  [/^(ENOTFOUND|EAI_NONAME|EAI_NODATA)$/, 'dns', (at) => `DNS does not know the host of ${at}: check baseUrl`],
  [/^EAI_/, 'dns', (at) => `the name server gave no answer for the host of ${at}`],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/, 'unreachable', (at) => `no way to ${at}`],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'timeout', (at) => `time-out: no connection to ${at}`],
  [/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, 'timeout', (at) => `time-out: ${at} fell silent`],
  [/^(EPROTO|ERR_SSL_)/, 'tls', (at) => `TLS failed with ${at}: does it speak https there?`],
  [/CERT|SIGNATURE|^ERR_TLS_/, 'tls', (at) => `the TLS certificate of ${at} is not accepted`],
  [/^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|HPE_)/, 'closed', (at) => `${at} closed the connection too early`],
];

/** The client's own limit. */
export class SilenceError extends Error {
  override readonly name = 'TimeoutError';

  constructor(milliseconds: number) {
    super(`time-out: nothing moved for ${milliseconds / 1_000} s`);
  }
}

interface Coded extends Error {
  readonly code?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
}

interface Explanation {
  readonly reason: NetworkReason;
  readonly text: string;
}

/** `host`: the host of the request, if known. */
export function explain(thrown: unknown, host?: string): Explanation {
  const chain = causesOf(thrown);
  const texts = chain.map(({ message }) => message).filter((text) => text !== '');
  const last = texts.at(-1) ?? String(thrown);
  if (chain.some((error) => error instanceof SilenceError)) return { reason: 'timeout', text: last };
  if (last === 'unexpected redirect') {
    return {
      reason: 'redirect',
      text: `${host ?? 'the address'} redirects: name the place that it leads to as baseUrl`,
    };
  }
  const coded = chain.filter(({ code }) => typeof code === 'string');
  for (const { code } of coded.toReversed()) {
    const [, reason, words] = KNOWN.find(([pattern]) => pattern.test(String(code))) ?? [];
    if (reason === undefined || words === undefined) continue;
    return { reason, text: `${words(addressesOf(coded) || (host ?? 'the gateway'))} (${last})` };
  }
  if (isBrowser() && thrown instanceof TypeError) {
    const page = `is it running at ${host ?? 'baseUrl'}, and does its server.cors.origins name this page's origin?`;
    return { reason: 'cors_or_unreachable', text: `the browser does not say why (${last}): ${page}` };
  }
  return { reason: 'unknown', text: last };
}

/** The error and its chain of causes, including the errors of all attempted addresses. */
function causesOf(thrown: unknown): Coded[] {
  if (!(thrown instanceof Error)) return [];
  const below = thrown instanceof AggregateError ? (thrown.errors as unknown[]) : [thrown.cause];
  return [thrown, ...below.flatMap(causesOf)];
}

function addressesOf(errors: readonly Coded[]): string {
  const addresses = errors.flatMap(({ address, port }) => {
    if (typeof address !== 'string') return [];
    return [address.includes(':') ? `[${address}]:${String(port)}` : `${address}:${String(port)}`];
  });
  return [...new Set(addresses)].join(' and ');
}

function isBrowser(): boolean {
  return 'location' in globalThis;
}
