/** Key pairs for SFTP logins, made by the gateway. */
import { refusal, unknown } from '../../base/errors.js';
import { type KeyPair, keyPairExample, keyPairFields } from '../../contract/key-pair.js';
import { listOf, object } from '../../contract/schema.js';
import { exampleOf, newFields, shownFields, viewOf } from '../../contract/thing.js';
import { successAnswer } from '../fields.js';
import { CLOSED } from '../fields.js';
import { actorOf, itemId } from '../services.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Connections');
export const keyPairEndpoints = endpoint.all;

const keyPair = object('KeyPair', shownFields(keyPairFields, 'owner'));
const sample = exampleOf(keyPairFields, keyPairExample, 'owner');

endpoint('GET /manage/key-pairs', {
  operationId: 'listKeyPairs',
  summary: 'List key pairs',
  description: 'Key pairs for SFTP logins that the gateway made; private keys are never shown.',
  answer: {
    schema: object('KeyPairsAnswer', { keyPairs: listOf(keyPair, 'The key pairs.') }),
    example: { keyPairs: [sample] },
  },
}).handle(async ({ caller }, { storage }) => {
  const pairs = await storage.management.keyPairs.list(caller.accountId);
  return { keyPairs: pairs.map(view) };
});

endpoint('POST /manage/key-pairs', {
  operationId: 'createKeyPair',
  summary: 'Make a key pair',
  description: 'The public key goes to the server; connections name the pair by `keyPairId`.',
  body: object('NewKeyPair', newFields(keyPairFields), CLOSED),
  bodyExamples: { body: { name: 'warehouse' } },
  answer: { status: 201, description: 'Made.', schema: keyPair, example: { ...sample, usedBy: [] } },
  errors: ['already_exists'],
}).handle(async (input, { storage, makeKeyPair }) => {
  const { name } = input.body;
  return view(await storage.management.keyPairs.add(actorOf(input), { name, ...makeKeyPair(name) }));
});

endpoint('DELETE /manage/key-pairs/:id', {
  operationId: 'deleteKeyPair',
  summary: 'Delete a key pair',
  description: 'Only one that no connection uses.',
  answer: { schema: successAnswer, example: { success: true } },
  errors: ['unknown_item', 'in_use'],
}).handle(async (input, { storage }) => {
  const id = itemId(input, 'key pair');
  const { keyPairs } = storage.management;
  const pair = (await keyPairs.list(input.caller.accountId)).find((one) => one.id === id);
  if (pair === undefined) throw unknown('key pair', id);
  if (pair.usedBy.length > 0) {
    throw refusal('in_use', `key pair "${pair.name}" is used by connection ${pair.usedBy.join(', ')}`);
  }
  await keyPairs.remove(actorOf(input), pair);
  return { success: true };
});

const view = (pair: KeyPair) => viewOf(keyPairFields, { ...pair, type: 'ed25519' }, 'owner');
