import PQueue from 'p-queue';
import { type GatewayError, toGatewayError } from '../../base/errors.js';
import type { HttpAnswer } from '../../http/types.js';
import { bucketOf, type Call, type Command, xmlAnswer } from '../call.js';
import { formOf } from '../errors.js';
import type { XmlElement } from '../xml.js';
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
  const isQuiet = textIn(others, 'Quiet') === 'true';
  const queue = new PQueue({ concurrency: AT_ONCE });
  const results = await queue.addAll(
    keys.map((key) => async (): Promise<XmlElement | undefined> => {
      try {
        await deleteKey(call, connection, key);
        return isQuiet ? undefined : ['Deleted', [['Key', key]]];
      } catch (thrown) {
        // The client has left: no further keys.
        call.request.ending.throwIfAborted();
        return failureOf(key, toGatewayError(thrown));
      }
    }),
  );
  return xmlAnswer(
    'DeleteResult',
    results.filter((result) => result !== undefined),
  );
}

function failureOf(key: string, error: GatewayError): XmlElement {
  return [
    'Error',
    [
      ['Key', key],
      ['Code', formOf(error).code],
      ['Message', error.clientText],
    ],
  ];
}
