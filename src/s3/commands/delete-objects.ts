import PQueue from 'p-queue';
import { type GatewayError, toGatewayError } from '../../base/errors.js';
import { Turns } from '../../base/turns.js';
import type { HttpAnswer } from '../../http/types.js';
import { bucketOf, type Call, type Command, XML } from '../call.js';
import { formOf } from '../errors.js';
import { documentOf, element } from '../xml.js';
import { malformed, readXmlList, textIn } from '../xml-body.js';
import { deleteKey } from './delete-object.js';
import { asMismatch } from './put-object.js';

export const deleteObjects: Command = { name: 'DeleteObjects', scope: 'write', run };

const MOST_KEYS = 1_000;
const AT_ONCE = 4;

async function run(call: Call): Promise<HttpAnswer> {
  const connection = await bucketOf(call);
  const { items, others } = await readXmlList(call, 'Delete', 'Object').catch((error: unknown) => {
    throw asMismatch(error);
  });
  const keys = items.map((object) => textIn(object, 'Key') ?? '');
  if (keys.length === 0 || keys.length > MOST_KEYS || keys.includes('')) throw malformed();
  const isQuiet = textIn(others, 'Quiet')?.trim() === 'true';
  const queue = new PQueue({ concurrency: AT_ONCE });
  const turns = new Turns();
  // Each is written when it is known: a thousand at once would hold the event loop.
  const results = await queue.addAll(
    keys.map((key) => async (): Promise<string> => {
      // Keys that are refused wait for nothing.
      if (turns.isOver()) await turns.next();
      try {
        await deleteKey(call, connection, key);
        return isQuiet ? '' : element('Deleted', [['Key', key]]);
      } catch (thrown) {
        // The client has left: no further keys.
        call.request.ending.throwIfAborted();
        return failureOf(key, toGatewayError(thrown));
      }
    }),
  );
  return { status: 200, headers: XML, body: documentOf('DeleteResult', results) };
}

function failureOf(key: string, error: GatewayError): string {
  return element('Error', [
    ['Key', key],
    ['Code', formOf(error).code],
    ['Message', error.clientText],
  ]);
}
