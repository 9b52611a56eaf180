/** `ftg verify`: verifies receipts, and chains of them, using only their keys. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Arguments, Context } from '../command.js';
import { EXIT, Exit } from '../exit-codes.js';
import { findAccess } from '../profiles.js';
import {
  BrokenLink,
  type Chain,
  type Keys,
  keysOf,
  type Payload,
  verifyChain,
  verifyReceipt,
} from '../receipt-chain.js';

interface VerifyOptions {
  readonly keys?: string;
}

const JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** A receipt is much shorter. */
const MOST_RECEIPT_BYTES = 256 * 1024;

export async function verifyFile(
  context: Context,
  [file = '']: Arguments,
  { keys: place }: VerifyOptions,
): Promise<void> {
  const { out } = context;
  const keys = await readKeys(context, place);
  try {
    const receipt = await receiptIn(file);
    if (receipt !== undefined) {
      const payload = verifyReceipt(receipt, keys);
      out.show({ isValid: true, payload }, () => JSON.stringify(payload, undefined, 2));
      out.note(`receipt ${payload.sequence} holds`);
      return;
    }
    const input = file === '-' ? process.stdin : createReadStream(file);
    const { receipts, first, last, forgotten } = await verifyChain(linesOf(input), keys);
    const facts = { receipts, first: first.sequence, last: last.sequence, forgotten };
    out.show({ isValid: true, ...facts }, () => chainText({ receipts, first, last, forgotten }));
  } catch (error) {
    if (!(error instanceof BrokenLink)) throw error;
    if (out.isJson) out.show({ isValid: false, brokenAt: error.sequence ?? null, error: error.message }, () => '');
    else out.fail(error);
    throw new Exit(EXIT.failure);
  }
}

function chainText({ receipts, first, last, forgotten }: Chain): string {
  const from = first.sequence === 1 ? '' : '; what was before the first of them is not in it';
  const gone = forgotten === 0 ? '' : `; the history no longer has the items of ${forgotten}`;
  const span = `${first.sequence} (${timeOf(first)}) to ${last.sequence} (${timeOf(last)})`;
  return `${receipts} receipts hold, ${span}, without a gap${from}${gone}`;
}

const timeOf = ({ recordedAt }: Payload): string => recordedAt;

/** From a file, an address, or the gateway of the profile. */
async function readKeys({ options, signal }: Context, place: string | undefined): Promise<Keys> {
  if (place !== undefined && !/^https?:\/\//.test(place)) return keysOf(JSON.parse(await readFile(place, 'utf8')));
  const url = place ?? findAccess(process.env, options.profile).url;
  const address = url.endsWith('.json') ? url : `${url.replace(/\/$/, '')}/.well-known/jwks.json`;
  const answer = await fetch(address, { signal });
  if (!answer.ok) throw new Error(`${address} answers ${answer.status}`);
  return keysOf(await answer.json());
}

/** undefined if it contains lines of a chain. */
async function receiptIn(file: string): Promise<string | undefined> {
  if (file === '-') return undefined;
  let head = '';
  for await (const chunk of createReadStream(file, { end: MOST_RECEIPT_BYTES })) {
    head += String(chunk);
    if (head.trimStart().startsWith('{')) return undefined;
  }
  return JWS.test(head.trim()) ? head.trim() : undefined;
}

async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  yield* createInterface({ input, crlfDelay: Infinity });
}
