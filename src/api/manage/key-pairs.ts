/** Key pairs made by the gateway. */
import { GatewayError } from '../../base/errors.js';
import { json } from '../../http/answer.js';
import type { HttpAnswer, RequestContext } from '../../http/types.js';
import type { KeyPair } from '../../storage/tables/key-pairs.js';
import { actorOf, itemId, type ManageServices, unknownItem } from './services.js';

export async function listKeyPairs({ storage }: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  const pairs = await storage.management.keyPairs.list(caller.accountId);
  return json(200, { keyPairs: pairs.map(view) });
}

export async function createKeyPair(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { name } = context.json as { readonly name: string };
  const pair = await services.storage.management.keyPairs.add(actorOf(context), {
    name,
    ...services.makeKeyPair(name),
  });
  return json(201, view(pair));
}

export async function deleteKeyPair({ storage }: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const id = itemId(context, 'key pair');
  const { keyPairs } = storage.management;
  const pair = (await keyPairs.list(context.caller.accountId)).find((one) => one.id === id);
  if (pair === undefined) throw unknownItem('key pair', id);
  if (pair.usedBy.length > 0) {
    throw new GatewayError('in_use', `key pair "${pair.name}" is used by connection ${pair.usedBy.join(', ')}`, {
      step: 'request',
    });
  }
  await keyPairs.remove(actorOf(context), pair);
  return json(200, { success: true });
}

function view({ id, name, publicKey, fingerprint, createdAt, usedBy }: KeyPair): object {
  return { id, name, type: 'ed25519', publicKey, fingerprint, createdAt, usedBy };
}
