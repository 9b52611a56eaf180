/** The checksum that a multipart upload is begun for, and what its parts and its object must have ("Checking object integrity"). */
import { Turns } from '../base/turns.js';
import type { MultipartPart, Upload } from '../contract/upload.js';
import { combine, isCombined } from './body/crc-combine.js';
import type { PartSum } from '../uploads/part-work.js';
import { type S3Body, SummedBody } from './body/body.js';
import { Checksum, CHECKSUM, isAlgorithm } from './body/checksums.js';
import { S3Error } from './errors.js';
import type { XmlElement } from './xml.js';

type Headers = ReadonlyMap<string, string>;

const COMPOSITE = 'COMPOSITE';
const FULL_OBJECT = 'FULL_OBJECT';

interface AskedChecksum {
  /** In lower case. */
  readonly algorithm: string;
  readonly type: string;
}

/** What CreateMultipartUpload asks for. @throws S3Error InvalidRequest */
export function askedChecksum(headers: Headers): AskedChecksum | undefined {
  const asked = headers.get('x-amz-checksum-algorithm');
  const type = headers.get('x-amz-checksum-type');
  if (asked === undefined) {
    if (type === undefined) return undefined;
    throw new S3Error('InvalidRequest', 'x-amz-checksum-type needs x-amz-checksum-algorithm');
  }
  const algorithm = asked.toLowerCase();
  if (!isAlgorithm(algorithm))
    throw new S3Error('InvalidRequest', `${asked.slice(0, 60)} is not an algorithm for checksums`);
  const types = typesOf(algorithm);
  const chosen = type ?? types[0];
  if (types.includes(chosen)) return { algorithm, type: chosen };
  throw new S3Error('InvalidRequest', `a checksum of type ${chosen.slice(0, 60)} cannot be ${asked}`);
}

/** The first one is the default. */
function typesOf(algorithm: string): readonly [string, ...string[]] {
  if (algorithm === 'crc64nvme') return [FULL_OBJECT];
  return isCombined(algorithm) ? [COMPOSITE, FULL_OBJECT] : [COMPOSITE];
}

/** As the upload keeps it. */
export const keptChecksum = ({ algorithm, type }: AskedChecksum): string => `${algorithm} ${type}`;

export function checksumFields({ algorithm, type }: AskedChecksum): Record<string, string> {
  return { 'x-amz-checksum-algorithm': algorithm.toUpperCase(), 'x-amz-checksum-type': type };
}

/** What the upload was begun for, as lists show it. */
export function askedElements({ checksum }: Pick<Upload, 'checksum'>): readonly XmlElement[] {
  if (checksum === null) return [];
  const [algorithm = '', type = ''] = checksum.split(' ');
  return [
    ['ChecksumAlgorithm', algorithm.toUpperCase()],
    ['ChecksumType', type],
  ];
}

/** The checksum of a part. */
export function partSumElements({ checksum }: Pick<MultipartPart, 'checksum'>): readonly XmlElement[] {
  if (checksum === null) return [];
  const [algorithm = '', value = ''] = checksum.split(' ');
  return [sumElement(algorithm, value)];
}

export function partSumFields({ checksum }: Pick<MultipartPart, 'checksum'>): Record<string, string> {
  if (checksum === null) return {};
  const [algorithm = '', value = ''] = checksum.split(' ');
  return { [PREFIX + algorithm]: value };
}

export const sumElement = (algorithm: string, value: string): XmlElement => [
  `Checksum${algorithm.toUpperCase()}`,
  value,
];

/** The checksum of a part that is sent with it. @throws S3Error InvalidRequest if it is not that of the upload */
export async function sentSum(
  upload: Pick<Upload, 'checksum'>,
  { promised, checksums }: Pick<S3Body, 'promised' | 'checksums'>,
): Promise<PartSum | undefined> {
  if (promised.length === 0) return ownSum(upload);
  const field = fieldOf(upload);
  const other = promised.find((one) => field !== undefined && one !== field);
  if (other !== undefined) {
    const text = `the upload was begun for ${field}, and the part has ${other.slice(0, 60)}`;
    throw new S3Error('InvalidRequest', text);
  }
  const value = (): string | undefined => {
    const [sum] = Object.entries(checksums());
    return sum && `${sum[0].replace(PREFIX, '')} ${sum[1]}`;
  };
  return { pass: (body) => body, value };
}

/** That of a part which is sent or copied without one, for an upload that was begun for one. */
export async function ownSum(upload: Pick<Upload, 'checksum'>): Promise<PartSum | undefined> {
  const field = fieldOf(upload);
  if (field === undefined) return undefined;
  const sum = await Checksum.open(field);
  return { pass: (body) => new SummedBody(body, [sum]), value: () => `${field.replace(PREFIX, '')} ${sum.value()}` };
}

const PREFIX = 'x-amz-checksum-';

function fieldOf({ checksum }: Pick<Upload, 'checksum'>): string | undefined {
  const [algorithm] = checksum?.split(' ') ?? [];
  return algorithm && PREFIX + algorithm;
}

export interface ObjectChecksum {
  readonly algorithm: string;
  readonly type: string;
  readonly value: string;
}

/**
 * The checksum of the object that these parts become; undefined if none was asked for, or a part has none. @throws
 * S3Error InvalidRequest, BadDigest if it is not what the completion promises
 */
export async function objectChecksum(
  { checksum }: Pick<Upload, 'checksum'>,
  parts: readonly MultipartPart[],
  headers: Headers,
): Promise<ObjectChecksum | undefined> {
  const [algorithm = '', type = ''] = checksum?.split(' ') ?? [];
  const asked = headers.get('x-amz-checksum-type') ?? type;
  if (asked !== type)
    throw new S3Error('InvalidRequest', `the upload was not begun for a checksum of type ${asked.slice(0, 60)}`);
  const [promised, ...others] = [...headers].filter(([name]) => CHECKSUM.test(name));
  // Parts of an older version may have none.
  const sums = parts.map((part) => part.checksum?.split(' ')[1] ?? '');
  const isKnown = algorithm !== '' && !sums.includes('');
  const value = isKnown ? await (type === COMPOSITE ? compositeOf : combinedOf)(algorithm, sums, parts) : undefined;
  if (promised === undefined) return value === undefined ? undefined : { algorithm, type, value };
  const [field, given] = promised;
  if (value === undefined || others.length > 0 || field !== `x-amz-checksum-${algorithm}`) {
    const text = `${field.slice(0, 60)} cannot be verified: begin the upload with this algorithm`;
    throw new S3Error('InvalidRequest', text);
  }
  if (given !== value) throw new S3Error('BadDigest', `the object does not match its ${field}`, 'digest_mismatch');
  return { algorithm, type, value };
}

/** The checksum of the checksums, and their number. */
async function compositeOf(algorithm: string, sums: readonly string[]): Promise<string> {
  const sum = await Checksum.open(`x-amz-checksum-${algorithm}`);
  for (const one of sums) sum.update(Buffer.from(one, 'base64'));
  return `${sum.value()}-${sums.length}`;
}

async function combinedOf(
  algorithm: string,
  sums: readonly string[],
  parts: readonly Pick<MultipartPart, 'size'>[],
): Promise<string> {
  const turns = new Turns();
  const add = combine(algorithm);
  let whole: Buffer = Buffer.from(sums[0] ?? '', 'base64');
  for (const [index, one] of sums.entries()) {
    if (turns.isOver()) await turns.next();
    if (index > 0) whole = add(whole, Buffer.from(one, 'base64'), parts[index]?.size ?? 0);
  }
  return whole.toString('base64');
}
