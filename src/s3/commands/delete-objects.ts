import PQueue from 'p-queue';
import { type GatewayError, toGatewayError } from '../../base/errors.js';
import { Turns } from '../../base/turns.js';
import type { HttpAnswer } from '../../http/types.js';
import { bucketOf, type Call, type Command, XML } from '../call.js';
import { formOf, S3Error } from '../errors.js';
import { MOST_KEYS } from '../list.js';
import { documentOf, element } from '../xml.js';
import { malformed, readXmlList, childText } from '../xml-body.js';
import { deleteKey } from './delete-object.js';
import { asMismatch } from './put-object.js';

export const deleteObjects: Command = { name: 'DeleteObjects', scope: 'write', run };

const AT_ONCE = 4;
/** What an object may have besides its key. */
const CONDITIONS = ['VersionId', 'ETag', 'LastModifiedTime', 'Size'];

async function run(call: Call): Promise<HttpAnswer> {
  const connection = await bucketOf(call);
  const { items, others } = await readXmlList(call, 'Delete', 'Object').catch((error: unknown) => {
    throw asMismatch(error);
  });
  const objects = items.map((item) => ({ key: childText(item, 'Key') ?? '', unkept: unkeptIn(item) }));
  if (objects.length === 0 || objects.length > MOST_KEYS || objects.some(({ key }) => key === '')) throw malformed();
  const isQuiet = childText(others, 'Quiet')?.trim() === 'true';
  const queue = new PQueue({ concurrency: AT_ONCE });
  const turns = new Turns();
  // Each is written when it is known: a thousand at once would hold the event loop.
  const results = await queue.addAll(
    objects.map(({ key, unkept }) => async (): Promise<string> => {
      // Keys that are refused wait for nothing.
      if (turns.isOver()) await turns.next();
      try {
        if (unkept !== undefined) {
          throw new S3Error('NotImplemented', `${unkept} of an object is not implemented`, 'unsupported_operation');
        }
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

/** The name of the first condition in it: without a check, an object would be deleted that the client wants to keep. */
function unkeptIn(item: Parameters<typeof childText>[0]): string | undefined {
  return CONDITIONS.find((name) => (childText(item, name) ?? '') !== '');
}

function failureOf(key: string, error: GatewayError): string {
  return element('Error', [
    ['Key', key],
    ['Code', formOf(error).code],
    ['Message', error.clientText],
  ]);
}
