/** Verifies receipts without their gateway: only the keys and a file are needed. */
import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DAY_MS } from '../contract/units.js';

export interface Payload {
  readonly sequence: number;
  readonly previous: string | null;
  readonly recordedAt: string;
  readonly account: string;
  readonly transfer: Readonly<Record<string, unknown>> & { readonly id: string; readonly digest: string | null };
}

/** A line of `GET /api/receipts`. */
interface Line {
  readonly sequence: number;
  readonly transferId: string;
  readonly receipt: string;
  readonly transfer: Readonly<Record<string, unknown>> | null;
}

export interface Chain {
  readonly receipts: number;
  readonly first: Payload;
  readonly last: Payload;
  /** Receipts whose item the history has deleted. */
  readonly forgotten: number;
}

/** The first invalid link. */
export class BrokenLink extends Error {
  override readonly name = 'BrokenLink';

  constructor(
    /** The number, if it is known. */
    readonly sequence: number | undefined,
    readonly reason: string,
  ) {
    super(sequence === undefined ? `the first line: ${reason}` : `receipt ${sequence}: ${reason}`);
  }
}

/** The history may delete more items while a chain is read from it. */
const FORGOTTEN_WITHIN_MS = DAY_MS;

export type Keys = ReadonlyMap<string, KeyObject>;

/** The keys of a JWK set; keys of other kinds are ignored. */
export function keysOf(set: unknown): Keys {
  const { keys } = (set ?? {}) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the keys are no JWK set: { "keys": […] }');
  const known = new Map<string, KeyObject>();
  for (const jwk of keys as readonly { readonly kid?: unknown; readonly crv?: unknown }[]) {
    if (typeof jwk.kid === 'string' && jwk.crv === 'Ed25519')
      known.set(jwk.kid, createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }));
  }
  return known;
}

/** @throws BrokenLink */
export function verifyReceipt(receipt: string, keys: Keys, sequence?: number): Payload {
  const parts = receipt.split('.');
  const [head = '', body = '', signature = ''] = parts;
  if (parts.length !== 3 || parts.some((part) => !isCanonical(part)))
    throw new BrokenLink(sequence, 'it is no JWS in compact form');
  const { alg, kid } = jsonOf<{ alg?: unknown; kid?: unknown }>(head, sequence, 'its header');
  if (alg !== 'EdDSA') throw new BrokenLink(sequence, `it is signed by ${String(alg)}, and not by EdDSA`);
  const key = keys.get(String(kid));
  if (key === undefined) throw new BrokenLink(sequence, `its key ${String(kid)} is not among the keys`);
  if (!verify(null, Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url')))
    throw new BrokenLink(sequence, 'its signature does not hold');
  return jsonOf<Payload>(body, sequence, 'its payload');
}

/** `lines` are held one at a time. @throws BrokenLink at the first invalid link */
export async function verifyChain(lines: AsyncIterable<string>, keys: Keys): Promise<Chain> {
  let first: Payload | undefined;
  let last: { readonly payload: Payload; readonly hash: string } | undefined;
  let [receipts, forgotten] = [0, 0];
  const history = new Remembered();
  for await (const text of lines) {
    if (text.trim() === '') continue;
    const expected = last === undefined ? undefined : last.payload.sequence + 1;
    const line = lineOf(text, expected);
    const payload = verifyReceipt(line.receipt, keys, expected ?? line.sequence);
    const sequence = expected ?? payload.sequence;
    const broken = (reason: string): BrokenLink => new BrokenLink(sequence, reason);
    if (payload.sequence !== sequence) throw broken(`it is missing; ${payload.sequence} is in its place`);
    if (line.sequence !== sequence) throw broken(`its line says that it is ${line.sequence}`);
    if (last === undefined) {
      if (sequence === 1 && payload.previous !== null) throw broken('it is the first one, and names another before it');
    } else {
      if (payload.previous !== last.hash)
        throw broken(`it does not follow receipt ${last.payload.sequence} as printed here`);
      if (payload.account !== last.payload.account) throw broken('it is of another account');
    }
    if (line.transferId !== payload.transfer.id) throw broken('its line names another transfer');
    if (line.transfer === null) forgotten++;
    else requireSame(payload.transfer, line.transfer, broken);
    history.add(payload, line.transfer !== null);
    last = { payload, hash: `sha-256:${createHash('sha256').update(line.receipt).digest('hex')}` };
    first ??= payload;
    receipts++;
  }
  if (first === undefined || last === undefined) throw new BrokenLink(undefined, 'there is no receipt in it');
  return { receipts, first, last: last.payload, forgotten };
}

/**
 * The history deletes its oldest items first. A missing item that is newer than existing ones was removed on purpose.
 */
class Remembered {
  /** The times of the oldest existing item and of the newest missing one. */
  #oldestExisting = Infinity;
  #gone: { readonly at: number; readonly sequence: number } | undefined;

  /** @throws BrokenLink */
  add({ sequence, transfer }: Payload, exists: boolean): void {
    const at = Date.parse(String(transfer['createdAt']));
    if (exists) this.#oldestExisting = Math.min(this.#oldestExisting, at);
    else if (this.#gone === undefined || at > this.#gone.at) this.#gone = { at, sequence };
    if (this.#gone === undefined || this.#gone.at - this.#oldestExisting < FORGOTTEN_WITHIN_MS) return;
    throw new BrokenLink(this.#gone.sequence, 'the history has no item of it, and has some that are older');
  }
}

function requireSame(
  signed: Readonly<Record<string, unknown>>,
  shown: Readonly<Record<string, unknown>>,
  broken: (reason: string) => BrokenLink,
): void {
  for (const name of new Set([...Object.keys(signed), ...Object.keys(shown)])) {
    if (isDeepStrictEqual(signed[name], shown[name])) continue;
    const [one, other] = [signed[name], shown[name]].map((value) => JSON.stringify(value) ?? 'nothing');
    throw broken(`the history says that ${name} is ${other}, and the receipt that it was ${one}`);
  }
}

function lineOf(text: string, sequence: number | undefined): Line {
  let line: Partial<Line> | undefined;
  try {
    line = JSON.parse(text) as Partial<Line>;
  } catch {
    throw new BrokenLink(sequence, 'its line is no JSON');
  }
  if (typeof line?.receipt !== 'string' || line.transfer === undefined)
    throw new BrokenLink(sequence, 'its line holds no receipt');
  return line as Line;
}

/** Additional bits after the last byte would be a change that no signature covers. */
function isCanonical(part: string): boolean {
  return part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part;
}

function jsonOf<T extends object>(part: string, sequence: number | undefined, what: string): T {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    if (typeof value === 'object' && value !== null) return value as T;
  } catch {
    // Reported below.
  }
  throw new BrokenLink(sequence, `${what} is no JSON object`);
}
