/**
 * What the settings of a connection add to its requests, in one place for all ways to send one: commands of the SDK,
 * AWS's uploader, and the requests that are signed without the SDK.
 */
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  type ObjectCannedACL,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
  type StorageClass,
} from '@aws-sdk/client-s3';
import type { S3Connection } from '../../../connections/connection.js';
import { isTemporaryKey } from '../../leftovers.js';

/** The header of each field of a command that can be added. */
const HEADERS = {
  ACL: 'x-amz-acl',
  RequestPayer: 'x-amz-request-payer',
  StorageClass: 'x-amz-storage-class',
} as const;

/** In the terms of the SDK. */
export type Added = Pick<PutObjectCommandInput, keyof typeof HEADERS>;
type Command = Parameters<S3Client['send']>[0];

const MAKING = [PutObjectCommand, CopyObjectCommand, CreateMultipartUploadCommand] as const;

export class Additions {
  /** Added to every request. */
  readonly every: Added;
  readonly #made: Added;
  readonly #madeToMove: Added;

  constructor({ acl, requesterPays, storageClass }: S3Connection) {
    this.every = requesterPays ? { RequestPayer: 'requester' } : {};
    this.#madeToMove = { ...this.every, ...(acl === 'none' ? {} : { ACL: acl satisfies ObjectCannedACL }) };
    const inClass = storageClass === undefined ? {} : { StorageClass: storageClass as StorageClass };
    this.#made = { ...this.#madeToMove, ...inClass };
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
      const isMaking = MAKING.some((kind) => command instanceof kind);
      Object.assign(command.input, isMaking ? this.made((command as PutObjectCommand).input.Key ?? '') : this.every);
      return (client.send as (command: Command, ...rest: unknown[]) => unknown).call(client, command, ...rest);
    };
    return Object.assign(Object.create(client) as S3Client, { send });
  }
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
