/** Chains of receipts with any possible change: the first invalid link is named. */
import assert from 'node:assert/strict';
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomInt, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import { BrokenLink, type Keys, keysOf, verifyChain, verifyReceipt } from '../../src/cli/receipt-chain.js';

/** The key changes in the middle of a chain. */
const signers = ['k1', 'k2', 'k3'].map((kid) => ({ kid, ...generateKeyPairSync('ed25519') }));
const stranger = generateKeyPairSync('ed25519');
const jwk = (key: KeyObject, kid: string): object => ({ ...key.export({ format: 'jwk' }), kid });
const keys = keysOf({ keys: signers.map(({ kid, publicKey }) => jwk(publicKey, kid)) });

const DAY_MS = 24 * 60 * 60 * 1000;
const LINKS = 6;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

interface By {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

const signerOf = (sequence: number): By => signers[Math.floor((sequence - 1) / 2) % signers.length]!;

function receiptOf(payload: object, by: By, head: object = {}): string {
  const input = `${encode({ alg: 'EdDSA', kid: by.kid, ...head })}.${encode(payload)}`;
  return `${input}.${sign(null, Buffer.from(input), by.privateKey).toString('base64url')}`;
}

function chainOf(count: number, apartMs = 2 * DAY_MS): string[] {
  let previous: string | null = null;
  return Array.from({ length: count }, (_, index) => {
    const transfer = {
      id: `t${index}`,
      path: `/files/ü${index}`,
      fileSize: index,
      digest: null,
      stages: { open: 1.25 },
      createdAt: new Date(Date.UTC(2026, 0) + index * apartMs).toISOString(),
    };
    const payload = { sequence: index + 1, previous, recordedAt: '…', account: 'a', transfer };
    const receipt = receiptOf(payload, signerOf(index + 1));
    previous = `sha-256:${createHash('sha256').update(receipt).digest('hex')}`;
    return JSON.stringify({ sequence: index + 1, transferId: transfer.id, receipt, transfer });
  });
}

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** null = the chain is valid. */
async function brokenAt(lines: readonly string[], by: Keys = keys): Promise<number | undefined | null> {
  try {
    await verifyChain(linesOf(lines), by);
    return null;
  } catch (error) {
    assert.ok(error instanceof BrokenLink, String(error));
    return error.sequence;
  }
}

describe('a chain of receipts', () => {
  const lines = chainOf(LINKS);
  const parsed = (index: number) => JSON.parse(lines[index]!) as { receipt: string; transfer: Record<string, unknown> };
  const withReceipt = (index: number, receipt: string): string[] =>
    lines.with(index, JSON.stringify({ ...parsed(index), receipt }));
  const forgotten = (...indexes: number[]): string[] =>
    lines.map((line, index) => (indexes.includes(index) ? JSON.stringify({ ...parsed(index), transfer: null }) : line));

  test('is valid as it is, with changes of the key, and from any link on', async () => {
    const { receipts, first, last } = await verifyChain(linesOf(lines), keys);
    assert.deepEqual([receipts, first.sequence, last.sequence], [LINKS, 1, LINKS]);
    for (let from = 1; from < LINKS; from++)
      assert.equal((await verifyChain(linesOf(lines.slice(from)), keys)).first.sequence, from + 1);
  });

  test('any changed byte of any link is found, at that link', async () => {
    for (const [index, line] of lines.entries()) {
      const bytes = Buffer.from(line);
      for (let at = 0; at < bytes.length; at++) {
        for (const flip of [1, randomInt(2, 256)]) {
          const changed = Buffer.from(bytes);
          changed[at] = (changed[at] ?? 0) ^ flip;
          const text = changed.toString();
          // A line that ends early is read as two lines.
          const broken = [
            ...lines.slice(Math.max(0, index - 1), index),
            ...text.split(/\r\n|\r|\n/),
            ...lines.slice(index + 1, index + 2),
          ];
          const sequence = await brokenAt(broken);
          // The first link of a file defines its sequence.
          const isNamed = sequence === index + 1 || (index === 0 && sequence !== null);
          assert.ok(isNamed, `byte ${at} of link ${index + 1}, ${flip}: ${sequence}`);
        }
      }
    }
  });

  test('a file that is cut off in the middle of a line', async () => {
    const last = lines.at(-1)!;
    for (let length = 1; length < last.length; length += 7)
      assert.equal(await brokenAt([...lines.slice(0, -1), last.slice(0, length)]), LINKS);
  });

  test('a link that is left out, duplicated, or in place of another one', async () => {
    for (let index = 1; index < LINKS - 1; index++) {
      assert.equal(await brokenAt(lines.toSpliced(index, 1)), index + 1, `without ${index + 1}`);
      assert.equal(await brokenAt(lines.toSpliced(index, 0, lines[index]!)), index + 2, `twice ${index + 1}`);
      for (let other = index + 1; other < LINKS; other++) {
        const swapped = lines.with(index, lines[other]!).with(other, lines[index]!);
        assert.equal(await brokenAt(swapped), index + 1, `${index + 1} and ${other + 1}`);
      }
    }
    assert.equal(await brokenAt([lines[0]!, ...lines]), 2);
    assert.equal(await brokenAt([]), undefined);
  });

  test('a signature of another kind, by another key, or by an unlisted key', async () => {
    const index = 2;
    const [head = '', body = '', signature = ''] = parsed(index).receipt.split('.');
    const payload = verifyReceipt(parsed(index).receipt, keys);
    const by = signerOf(index + 1);
    const secret = Buffer.from(by.kid);
    const hmac = `${encode({ alg: 'HS256', kid: by.kid })}.${body}`;
    const forged: Record<string, string> = {
      'alg none, unsigned': `${encode({ alg: 'none', kid: by.kid })}.${body}.`,
      'alg none, signed': receiptOf(payload, by, { alg: 'none' }),
      'alg of another case': receiptOf(payload, by, { alg: 'eddsa' }),
      'HMAC with what is public': `${hmac}.${createHmac('sha256', secret).update(hmac).digest('base64url')}`,
      'another key': receiptOf(payload, { ...by, privateKey: stranger.privateKey }),
      'a former key under the name of the present one': receiptOf(payload, {
        ...by,
        privateKey: signers[0]!.privateKey,
      }),
      'a key that is not known': receiptOf(payload, { kid: 'k9', privateKey: stranger.privateKey }),
      'its own key in its head': receiptOf(
        payload,
        { kid: 'k9', privateKey: stranger.privateKey },
        { jwk: jwk(stranger.publicKey, 'k9') },
      ),
      'no key named': receiptOf(payload, { ...by, kid: undefined as unknown as string }),
      'a head of nothing': `${encode(null)}.${body}.${signature}`,
      'a head that is no JSON': `e30e.${body}.${signature}`,
      'no signature': `${head}.${body}`,
      'a signature more': `${head}.${body}.${signature}.${signature}`,
      'the signature of another one': `${head}.${body}.${parsed(1).receipt.split('.')[2]}`,
      'the head of another one': `${parsed(1).receipt.split('.')[0]}x.${body}.${signature}`,
    };
    for (const [what, receipt] of Object.entries(forged))
      assert.equal(await brokenAt(withReceipt(index, receipt)), index + 1, what);
    const former = keysOf({ keys: [jwk(signers[0]!.publicKey, 'k1')] });
    assert.equal(await brokenAt(lines, former), 3, 'keys from before the change');
  });

  test('the next link reveals a link that the owner of the key has signed again', async () => {
    for (let index = 0; index < LINKS - 1; index++) {
      const payload = verifyReceipt(parsed(index).receipt, keys);
      const anew = (changes: object): string[] =>
        withReceipt(index, receiptOf({ ...payload, ...changes }, signerOf(index + 1)));
      assert.equal(await brokenAt(anew({ recordedAt: 'earlier' })), index + 2);
      assert.equal(await brokenAt(anew({ account: 'b' })), index === 0 ? 2 : index + 1);
      assert.equal(await brokenAt(anew({ previous: 'sha-256:00' })), index + 1);
      assert.equal(await brokenAt(anew({ sequence: index + 2 })), index === 0 ? 2 : index + 1);
    }
  });

  test('a history item with different, additional or missing fields', async () => {
    const index = 3;
    const { transfer } = parsed(index);
    const chainWith = (changed: object): string[] =>
      lines.with(index, JSON.stringify({ ...parsed(index), transfer: changed }));
    for (const name of Object.keys(transfer)) {
      assert.equal(await brokenAt(chainWith({ ...transfer, [name]: 'another' })), index + 1, name);
      assert.equal(await brokenAt(chainWith({ ...transfer, [name]: undefined })), index + 1, `without ${name}`);
    }
    assert.equal(await brokenAt(chainWith({ ...transfer, more: 1 })), index + 1);
  });

  test('items that the history has forgotten are the oldest ones', async () => {
    assert.equal((await verifyChain(linesOf(forgotten(0, 1, 2)), keys)).forgotten, 3);
    assert.equal((await verifyChain(linesOf(forgotten(...lines.keys())), keys)).forgotten, LINKS);
    assert.equal(await brokenAt(forgotten(3)), 4);
    assert.equal(await brokenAt(forgotten(0, 4)), 5);
    // While a chain is read, the history may delete some of its items.
    const ofOneDay = chainOf(LINKS, DAY_MS / LINKS);
    const last = JSON.stringify({ ...(JSON.parse(ofOneDay[4]!) as object), transfer: null });
    assert.equal((await verifyChain(linesOf(ofOneDay.with(4, last)), keys)).forgotten, 1);
  });
});
