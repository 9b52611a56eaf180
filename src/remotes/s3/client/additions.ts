/**
 * What the settings of a connection add to its requests, in one place for all ways to send one: commands of the SDK,
 * AWS's uploader, and the requests that are signed without the SDK.
 */
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  type CopyObjectCommandInput,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type ObjectCannedACL,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
  type StorageClass,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { hash } from 'node:crypto';
import { loginRefused } from './named-file.js';
import type { S3Connection } from '../../../connections/connection.js';
import { AES_KEY } from '../../../contract/patterns.js';
import { isTemporaryKey } from '../../leftovers.js';

/** The header of each field of a command that can be added. */
const HEADERS = {
  ACL: 'x-amz-acl',
  RequestPayer: 'x-amz-request-payer',
  StorageClass: 'x-amz-storage-class',
  ServerSideEncryption: 'x-amz-server-side-encryption',
  SSEKMSKeyId: 'x-amz-server-side-encryption-aws-kms-key-id',
  SSECustomerAlgorithm: 'x-amz-server-side-encryption-customer-algorithm',
  SSECustomerKey: 'x-amz-server-side-encryption-customer-key',
  SSECustomerKeyMD5: 'x-amz-server-side-encryption-customer-key-md5',
} as const;

/** In the terms of the SDK. */
export type Added = Pick<PutObjectCommandInput, keyof typeof HEADERS>;
/** The customer's key of the object that is copied. */
type OfSource = Pick<
  CopyObjectCommandInput,
  'CopySourceSSECustomerAlgorithm' | 'CopySourceSSECustomerKey' | 'CopySourceSSECustomerKeyMD5'
>;
type Command = Parameters<S3Client['send']>[0];

const isOneOf = (command: Command, kinds: readonly (abstract new (...args: never[]) => unknown)[]): boolean =>
  kinds.some((kind) => command instanceof kind);
const MAKING = [PutObjectCommand, CopyObjectCommand, CreateMultipartUploadCommand];
const COPYING = [CopyObjectCommand, UploadPartCopyCommand];
/** Requests on the content of an object that exists, or of an upload that is open. */
const OPENING = [
  ...[GetObjectCommand, HeadObjectCommand],
  ...[UploadPartCommand, UploadPartCopyCommand, CompleteMultipartUploadCommand],
];

export class Additions {
  /** Added to every request. */
  readonly every: Added;
  /** Added to a request on the content of an object. */
  readonly opened: Added;
  readonly #made: Added;
  readonly #madeToMove: Added;
  readonly #ofSource: OfSource;

  /** @throws GatewayError login_refused if the connection lacks the key for its objects, or has another text */
  constructor(connection: S3Connection) {
    const { acl, requesterPays, storageClass } = connection;
    const byCustomer = customerKeyOf(connection);
    this.every = requesterPays ? { RequestPayer: 'requester' } : {};
    this.opened = { ...this.every, ...byCustomer };
    const withAcl = acl === 'none' ? {} : { ACL: acl satisfies ObjectCannedACL };
    this.#madeToMove = { ...this.opened, ...withAcl, ...encryptionOf(connection) };
    const inClass = storageClass === undefined ? {} : { StorageClass: storageClass as StorageClass };
    this.#made = { ...this.#madeToMove, ...inClass };
    this.#ofSource = ofSource(byCustomer);
  }

  /**
   * Added to a request that makes an object. A temporary one is soon read and removed again: archives give nothing back at
   * once, and other classes charge for a month.
   */
  made(key: string): Added {
    return isTemporaryKey(key) ? this.#madeToMove : this.#made;
  }

  /** A client whose commands have these additions. */
  on(client: S3Client): S3Client {
    if (Object.keys(this.#made).length === 0) return client;
    const send = (command: Command, ...rest: unknown[]): unknown => {
      Object.assign(command.input, this.#for(command));
      return (client.send as (command: Command, ...rest: unknown[]) => unknown).call(client, command, ...rest);
    };
    return Object.assign(Object.create(client) as S3Client, { send });
  }

  #for(command: Command): Added & OfSource {
    const isMaking = isOneOf(command, MAKING);
    const added = isMaking
      ? this.made((command as PutObjectCommand).input.Key ?? '')
      : isOneOf(command, OPENING)
        ? this.opened
        : this.every;
    return isOneOf(command, COPYING) ? { ...added, ...this.#ofSource } : added;
  }
}

const KEY = new RegExp(AES_KEY);

type CustomerKey = Pick<Added, 'SSECustomerAlgorithm' | 'SSECustomerKey' | 'SSECustomerKeyMD5'>;

function customerKeyOf({ encryption, encryptionKey: key }: S3Connection): CustomerKey {
  if (encryption.type !== 'customer') return {};
  if (key === undefined) throw loginRefused('the connection has lost its encryption.key: enter it again');
  // One that is read by reference may be any text.
  if (!KEY.test(key)) throw loginRefused('encryption.key is not 32 bytes in base64');
  const SSECustomerKeyMD5 = hash('md5', Buffer.from(key, 'base64'), 'base64');
  return { SSECustomerAlgorithm: 'AES256', SSECustomerKey: key, SSECustomerKeyMD5 };
}

function ofSource({ SSECustomerAlgorithm, SSECustomerKey, SSECustomerKeyMD5 }: CustomerKey): OfSource {
  if (SSECustomerKey === undefined) return {};
  return {
    CopySourceSSECustomerAlgorithm: SSECustomerAlgorithm,
    CopySourceSSECustomerKey: SSECustomerKey,
    CopySourceSSECustomerKeyMD5: SSECustomerKeyMD5,
  };
}

function encryptionOf({ encryption: { type, keyId } }: S3Connection): Added {
  if (type === 'aes256') return { ServerSideEncryption: 'AES256' };
  return type === 'kms' ? { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: keyId } : {};
}

/** The additions in a request as headers. */
export function addedHeaders(request: Added): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [field, name] of Object.entries(HEADERS)) {
    const value = request[field as keyof Added];
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}
