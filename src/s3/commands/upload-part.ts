import { Readable } from 'node:stream';
import type { HttpAnswer } from '../../http/types.js';
import type { Call, Command } from '../call.js';
import { keptSum, refuseOtherAlgorithm } from '../multipart-checksum.js';
import { namedUpload, partNumberOf } from './multipart-upload.js';
import { asMismatch } from './put-object.js';

export const uploadPart: Command = { name: 'UploadPart', scope: 'write', run };

async function run(call: Call): Promise<HttpAnswer> {
  const number = partNumberOf(call);
  const { request, id } = await namedUpload(call);
  const { bytes, size, digest, promised, checksums } = await call.body();
  const body = typeof bytes === 'function' ? Readable.from([await bytes()], { objectMode: false }) : bytes;
  const { etag } = await call.services.multipart
    .writePart(request, id, {
      number,
      size,
      body,
      digest,
      admit: (upload) => refuseOtherAlgorithm(upload, promised),
      checksum: () => keptSum(checksums()),
    })
    .catch((error: unknown) => {
      throw asMismatch(error);
    });
  return { status: 200, headers: { ETag: `"${etag}"`, ...checksums() } };
}
