/** The checksum that a multipart upload is begun for, and what its parts and its object must have ("Checking object integrity"). */
import { Turns } from '../base/turns.js';
import type { MultipartPart, Upload } from '../contract/upload.js';
import { combine, isCombined } from './body/crc-combine.js';
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

/** The checksum of a part of such an upload. */
export function sumElements(
  { checksum: asked }: Pick<Upload, 'checksum'>,
  { checksum }: Pick<MultipartPart, 'checksum'>,
): readonly XmlElement[] {
  if (asked === null || checksum === null) return [];
  const [algorithm = '', value = ''] = checksum.split(' ');
  return [sumElement(algorithm, value)];
}

export const sumElement = (algorithm: string, value: string): XmlElement => [
  `Checksum${algorithm.toUpperCase()}`,
  value,
];

/** The checksum of a body, as its part keeps it. */
export function keptSum(fields: Readonly<Record<string, string>>): string | undefined {
  const [sum] = Object.entries(fields);
  return sum && `${sum[0].replace('x-amz-checksum-', '')} ${sum[1]}`;
}

/** @throws S3Error InvalidRequest for a part with a checksum of another algorithm than the upload */
export function refuseOtherAlgorithm({ checksum }: Pick<Upload, 'checksum'>, fields: readonly string[]): void {
  if (checksum === null) return;
  const [algorithm = ''] = checksum.split(' ');
  const other = fields.find((field) => field !== `x-amz-checksum-${algorithm}`);
  if (other === undefined) return;
  const text = `the upload was begun for ${algorithm.toUpperCase()}, and the part has ${other.slice(0, 60)}`;
  throw new S3Error('InvalidRequest', text);
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
  const sums = parts.map((part) => part.checksum?.split(' ')[1] ?? '');
  const isKnown = algorithm !== '' && !sums.includes('');
  const value = isKnown ? await (type === COMPOSITE ? compositeOf : combinedOf)(algorithm, sums, parts) : undefined;
  if (promised === undefined) return value === undefined ? undefined : { algorithm, type, value };
  const [field, given] = promised;
  if (value === undefined || others.length > 0 || field !== `x-amz-checksum-${algorithm}`) {
    const text = `${field.slice(0, 60)} cannot be verified: begin the upload with this algorithm, and send it with each part`;
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
