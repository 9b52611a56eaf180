import type { MultipartPart, Upload } from '../../contract/upload.js';
import type { Connection } from '../../connections/connection.js';
import type { HttpAnswer } from '../../http/types.js';
import type { FileInfo } from '../../remotes/remote.js';
import { sumOfSizes } from '../../base/numbers.js';
import { MOST_PARTS } from '../../uploads/part-list.js';
import { type Call, type Command, xmlAnswer } from '../call.js';
import { S3Error } from '../errors.js';
import { etagOf } from '../etag.js';
import { lookAt } from '../look.js';
import { type ObjectChecksum, objectChecksum, sumElement } from '../multipart-checksum.js';
import type { XmlElement } from '../xml.js';
import { malformed, readXmlList, childText } from '../xml-body.js';
import { openUpload } from './multipart-upload.js';
import { asMismatch, isExclusive } from './put-object.js';

export const completeMultipartUpload: Command = {
  name: 'CompleteMultipartUpload',
  scope: 'write',
  hasObjectChecksum: true,
  run,
};

async function run(call: Call): Promise<HttpAnswer> {
  const { services, bucket, key } = call;
  const { request, id } = await openUpload(call);
  const exclusive = isExclusive(call.headers);
  const { items } = await readXmlList(call, 'CompleteMultipartUpload', 'Part').catch((error: unknown) => {
    throw asMismatch(error);
  });
  const parts = items.map((part) => ({
    number: numberIn(childText(part, 'PartNumber')),
    etag: tagIn(childText(part, 'ETag')),
    checksum: sumIn(part),
  }));
  if (parts.length === 0 || parts.length > MOST_PARTS) throw malformed();
  const complete = async (): Promise<HttpAnswer> => {
    let sum: ObjectChecksum | undefined;
    const admit = async (upload: Upload, chosen: readonly MultipartPart[]): Promise<void> => {
      requireSize(call, sumOfSizes(chosen));
      sum = await objectChecksum(upload, chosen, call.headers);
    };
    const { info, isRepeated } = await services.multipart.complete(request, id, parts, { exclusive, admit });
    const etag = etagOf(isRepeated ? await asStored(call, request.connection, info) : info);
    return xmlAnswer('CompleteMultipartUploadResult', [
      ['Location', call.request.path],
      ['Bucket', bucket],
      ['Key', key],
      ['ETag', `"${etag}"`],
      ...elementsOf(sum),
    ]);
  };
  return call.inTime(complete());
}

/** @throws S3Error InvalidRequest if the client expects another size */
function requireSize({ headers }: Call, size: number): void {
  const expected = headers.get('x-amz-mp-object-size')?.trim();
  if (expected === undefined || expected === String(size)) return;
  const text = `the listed parts have ${size} bytes, and x-amz-mp-object-size is ${expected.slice(0, 40)}`;
  throw new S3Error('InvalidRequest', text);
}

/** A repetition gets the entity tag of the first answer: only the server knows it, unless the object has gone. */
async function asStored(call: Call, connection: Connection, made: FileInfo): Promise<FileInfo> {
  const found = await lookAt(call, connection, call.key).catch(() => made);
  return found.size === made.size ? found : made;
}

function numberIn(text = ''): number {
  const number = /^\s*\d{1,5}\s*$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= MOST_PARTS) return number;
  throw new S3Error('InvalidPart', 'PartNumber must be a number from 1 to 10000');
}

const SUM = /^Checksum(?=CRC|SHA)/;

/** @throws S3Error MalformedXML for more than one */
function sumIn(part: Readonly<Record<string, unknown>>): string | undefined {
  const [name, ...others] = Object.keys(part).filter((name) => SUM.test(name));
  if (name === undefined) return undefined;
  if (others.length > 0) throw malformed();
  return `${name.replace(SUM, '').toLowerCase()} ${childText(part, name)?.trim() ?? ''}`;
}

function elementsOf(sum: ObjectChecksum | undefined): readonly XmlElement[] {
  if (sum === undefined) return [];
  return [sumElement(sum.algorithm, sum.value), ['ChecksumType', sum.type]];
}

/** Clients send the tag with quotes, or without. */
function tagIn(text: string | undefined): string {
  if (text === undefined) throw malformed();
  return text.trim().replace(/^"|"$/g, '');
}
