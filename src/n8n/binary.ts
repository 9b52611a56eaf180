/** Binary data of n8n: a stream if n8n keeps it on disk or in S3, bytes if it keeps it in memory. */
import type { ByteStream, IBinaryData, IExecuteFunctions } from 'n8n-workflow';
import { type Answer, field } from './answer.js';
import { ownError } from './errors.js';

const CHUNK_BYTES = 262_144;

interface BinaryBody {
  readonly body: ByteStream | Uint8Array;
  /** The size in bytes. */
  readonly size: number;
  readonly fileName: string | undefined;
}

export async function fromBinary(context: IExecuteFunctions, index: number, property: string): Promise<BinaryBody> {
  const { id, data, fileName } = context.helpers.assertBinaryData(index, property);
  if (id === undefined) {
    const bytes = Buffer.from(data, 'base64');
    return { body: bytes, size: bytes.byteLength, fileName };
  }
  const { fileSize } = await context.helpers.getBinaryMetadata(id);
  return { body: await context.helpers.getBinaryStream(id, CHUNK_BYTES), size: fileSize, fileName };
}

/** @throws NodeApiError if the download was cut, which n8n reports with a single word */
export async function toBinary(
  context: IExecuteFunctions,
  { headers, body }: Omit<Answer, 'body'> & { readonly body: ByteStream },
  name: string,
): Promise<{ readonly file: IBinaryData; readonly size: number }> {
  let file: IBinaryData;
  try {
    file = await context.helpers.prepareBinaryData(body, name, field(headers, 'content-type'));
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw ownError(context.getNode(), 'cut_download', `${name} did not come to its end: ${reason}`);
  }
  return { file, size: await sizeOf(context, file) };
}

async function sizeOf(context: IExecuteFunctions, { id, data }: IBinaryData): Promise<number> {
  if (id === undefined) return Buffer.byteLength(data, 'base64');
  return (await context.helpers.getBinaryMetadata(id)).fileSize;
}
