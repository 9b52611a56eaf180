import { Readable } from 'node:stream';
import type { HttpAnswer } from '../../http/types.js';
import type { Call, Command } from '../call.js';
import { partSumFields, sentSum } from '../multipart-checksum.js';
import { namedUpload, partNumberOf } from './multipart-upload.js';
import { asMismatch } from './put-object.js';

export const uploadPart: Command = { name: 'UploadPart', scope: 'write', run };

async function run(call: Call): Promise<HttpAnswer> {
  const number = partNumberOf(call);
  const { request, id } = await namedUpload(call);
  const sent = await call.body();
  const { bytes, size, digest } = sent;
  const body = typeof bytes === 'function' ? Readable.from([await bytes()], { objectMode: false }) : bytes;
  const part = await call.services.multipart
    .writePart(request, id, { number, size, body, digest, admit: (upload) => sentSum(upload, sent) })
    .catch((error: unknown) => {
      throw asMismatch(error);
    });
  return { status: 200, headers: { ETag: `"${part.etag}"`, ...partSumFields(part) } };
}
