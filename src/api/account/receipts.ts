/** Receipts of transfers, and the keys that verify them. */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { type GatewayError, refusal } from '../../base/errors.js';
import { queryOf, receiptFilters } from '../../contract/filters.js';
import { receiptFields } from '../../contract/receipt.js';
import { described, listOf, object, oneOf, text } from '../../contract/schema.js';
import { HAS_RECEIPT } from '../../operations/evidence.js';
import type { ReceiptLine, Storage, StoredTransfer } from '../../storage/storage.js';
import { endpoint, jsonContent } from '../endpoint.js';
import { TRANSFER_ID } from '../../contract/examples.js';
import type { Services } from '../services.js';
import { transferOf } from '../transfers/history.js';

/** Receipts in memory at a time while a chain is sent. */
const PAGE = 64;
const EXAMPLE =
  'eyJhbGciOiJFZERTQSIsImtpZCI6IuKApiJ9.eyJzZXF1ZW5jZSI6MX0.c2lnbmF0dXJlIG9mIGFuIGV4YW1wbGUsIHdoaWNoIG5vIGtleSBoYXMgbWFkZQ';

export const getReceipt = endpoint({
  method: 'GET',
  path: '/api/transfers/:id/receipt',
  access: 'any',
  isEssential: true,
  operationId: 'getReceipt',
  tag: 'Account',
  summary: 'Get the receipt of a transfer',
  description:
    'A JWS in its compact form, signed with Ed25519 (`EdDSA`, RFC 8037). Uploads, writes, appends, downloads, reads, copies, moves and deletes that succeed have one where digests are on. Its payload holds the item of the history, who the servers were, and the hash of the receipt before it. The receipt of a copy names both connections: a key that may use only one of them is refused.',
  params: { id: text('Identifier of a transfer.', { minLength: 1, examples: [TRANSFER_ID] }) },
  answers: {
    200: {
      description: 'The receipt.',
      content: {
        'application/jose': { schema: receiptFields.receipt.schema, examples: { receipt: { value: EXAMPLE } } },
      },
    },
  },
  errors: ['unknown_item', 'forbidden'],
}).handle(async ({ caller, params }, { storage }: Services) => {
  const transfer = await transferOf(storage, caller, params.id);
  const { id } = transfer;
  const found = await storage.receipts.find(caller.accountId, id);
  if (found === undefined) throw refusal('unknown_item', `transfer ${id} has no receipt: ${whyNone(transfer)}`);
  const source = caller.connections.length === 0 ? undefined : sourceOf(found.receipt);
  if (source !== undefined && !caller.connections.includes(source)) {
    throw refusal('forbidden', 'the receipt also names another connection, which this API key may not use');
  }
  return { status: 200, headers: { 'Content-Type': 'application/jose' }, body: found.receipt };
});

/** The source connection of the file. */
function sourceOf(receipt: string): string | undefined {
  const [, payload = ''] = receipt.split('.');
  const { source } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
    readonly source?: { readonly connectionId?: string };
  };
  return source?.connectionId;
}

function whyNone({ status, type, stages, digest, noDigest }: StoredTransfer): string {
  if (status === 'pending') return 'it has not ended';
  if (status === 'failed') return 'it failed';
  if (!HAS_RECEIPT[type]) return `none is made of the type ${type}`;
  // Every version that makes receipts also records the stages.
  if (stages === null) return 'a version of the gateway recorded it that made none';
  if (digest === null && noDigest === null) return 'digests were not on';
  return 'it is no longer kept';
}

export const listReceipts = endpoint({
  method: 'GET',
  path: '/api/receipts',
  access: 'any',
  isEssential: true,
  operationId: 'listReceipts',
  tag: 'Account',
  summary: 'The chain of receipts',
  description:
    'The receipts of the account in their order, one a line (NDJSON), each beside what the history says of its transfer now: `{ sequence, transferId, receipt, transfer }`, where `transfer` is null once the history has forgotten it. `ftg verify` checks a file of them. Without `after` the oldest that is kept comes first. For keys that may use all connections.',
  query: Type.Object({
    ...queryOf(receiptFilters),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'How many; all when absent.', examples: [1000] }),
    ),
  }),
  answers: {
    200: {
      description: 'The chain.',
      content: {
        'application/x-ndjson': {
          schema: text('Lines of JSON.'),
          examples: {
            lines: { value: `{"sequence":1,"transferId":"${TRANSFER_ID}","receipt":"${EXAMPLE}","transfer":null}\n` },
          },
        },
      },
    },
  },
  errors: ['forbidden', 'gone'],
}).handle(async ({ caller, query }, { storage }: Services) => {
  if (caller.connections.length > 0) {
    throw refusal('forbidden', 'this API key is for some connections alone; the chain of receipts is of all of them');
  }
  const { accountId } = caller;
  const { after, limit = Infinity } = query;
  // Read before the list: a receipt that is added meanwhile is not missing.
  const last = after === undefined ? 0 : await storage.receipts.lastOf(accountId);
  const first = await storage.receipts.list(accountId, after ?? 0, Math.min(PAGE, limit));
  if (after !== undefined && first[0]?.sequence !== after + 1) requireLast(after, last);
  const lines = Readable.from(linesOf(storage, accountId, first, limit), { objectMode: false });
  return {
    status: 200,
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: { stream: lines, length: undefined },
  };
});

/** Checks that nothing follows `after` only because it is the last one. */
function requireLast(after: number, last: number): void {
  if (after > last) {
    throw refusal('bad_request', `after must be at most ${last}, the sequence of the last receipt; it is ${after}`);
  }
  if (after < last) throw forgotten(after);
}

const forgotten = (after: number): GatewayError =>
  refusal(
    'gone',
    `what follows receipt ${after} is no longer kept; without after the chain begins at the oldest that is`,
  );

async function* linesOf(
  { receipts }: Pick<Storage, 'receipts'>,
  accountId: string,
  first: readonly ReceiptLine[],
  limit: number,
): AsyncGenerator<Buffer> {
  for (let [page, left] = [first, limit]; ;) {
    const end = page.at(-1);
    if (end === undefined) return;
    yield Buffer.from(page.map((line) => `${JSON.stringify(line)}\n`).join(''));
    left -= page.length;
    if (left === 0) return;
    page = await receipts.list(accountId, end.sequence, Math.min(PAGE, left));
    // The oldest receipts were deleted while they were read.
    if (page[0] !== undefined && page[0].sequence !== end.sequence + 1) throw forgotten(end.sequence);
  }
}

const publicKey = object('ReceiptKey', {
  kty: oneOf(['OKP'], 'Kind of key (RFC 8037).'),
  crv: oneOf(['Ed25519'], 'Its curve.'),
  x: text('The public key, base64url.'),
  kid: text('Its identifier: its thumbprint (RFC 7638).'),
  alg: oneOf(['EdDSA'], 'What it signs by.'),
  use: oneOf(['sig'], 'What it is for.'),
});

export const showKeys = endpoint({
  method: 'GET',
  path: '/.well-known/jwks.json',
  access: 'public',
  operationId: 'showReceiptKeys',
  tag: 'System',
  summary: 'Keys to verify receipts by',
  description: 'A JWK set (RFC 7517): the key that signs now, and all former ones.',
  answers: {
    200: {
      description: 'The keys, newest first.',
      content: jsonContent(object('ReceiptKeys', { keys: listOf(described(publicKey, 'A key.'), 'Newest first.') }), {
        keys: {
          keys: [
            {
              kty: 'OKP',
              crv: 'Ed25519',
              x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
              kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
              alg: 'EdDSA',
              use: 'sig',
            },
          ],
        },
      }),
    },
  },
}).handle(async (_, { storage }: Services) => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ keys: await storage.receipts.keys() }),
}));
