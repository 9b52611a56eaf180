/**
 * How S3 stores deviate, as data: what is known about a provider by its host name, and what its answers have shown
 * since (in memory, per endpoint). The code asks for a trait, never for a provider.
 */

import { LRUCache } from 'lru-cache';
import { atMost } from '../../base/cache-size.js';
import type { S3Connection } from '../../connections/connection.js';
import { unknownLine } from '../ranges-ahead.js';

/**
 * Whether a condition sent with a write is obeyed. `unknown`: send it if a refusal can be repeated without it, and look
 * first.
 */
export type Support = 'yes' | 'no' | 'unknown';

interface Traits {
  /** The SDK's default adds CRC trailers in aws-chunked framing, which stores other than AWS answer with 411 or 501. */
  readonly checksums: 'WHEN_SUPPORTED' | 'WHEN_REQUIRED';
  /** If-None-Match: * on PutObject. */
  readonly exclusivePut: Support;
  /** If-None-Match: * on CompleteMultipartUpload; Swift, for example, silently ignores it. */
  readonly exclusiveComplete: Support;
  /** If-None-Match: * on CopyObject is known to be obeyed. */
  readonly exclusiveCopy: boolean;
  /** Copies obey x-amz-copy-source-if-match; Swift compares a multipart object with a tag that it never shows. */
  readonly copyIfMatch: boolean;
  /** If-Match on DeleteObject is obeyed or ignored, not refused. */
  readonly deleteIfMatch: boolean;
  /** DeleteObjects. */
  readonly deletesMany: boolean;
  /** ListObjectsV2, or the older version with markers. */
  readonly listing: 'v2' | 'v1';
  /** All parts but the last must be equal in size. */
  readonly equalParts: boolean;
  /** A GET with a Range is answered with that range. */
  readonly answersRanges: boolean;
}

const UNKNOWN_STORE: Traits = {
  checksums: 'WHEN_REQUIRED',
  exclusivePut: 'unknown',
  exclusiveComplete: 'unknown',
  exclusiveCopy: false,
  copyIfMatch: true,
  deleteIfMatch: true,
  deletesMany: true,
  listing: 'v2',
  equalParts: false,
  answersRanges: true,
};

const PROVIDERS: readonly { readonly host: RegExp; readonly traits: Partial<Traits> }[] = [
  {
    host: /(^|\.)amazonaws\.com(\.cn)?$/,
    traits: { checksums: 'WHEN_SUPPORTED', exclusivePut: 'yes', exclusiveComplete: 'yes', exclusiveCopy: true },
  },
  // Refuses to complete an upload whose parts differ in size.
  { host: /\.r2\.cloudflarestorage\.com$/, traits: { exclusivePut: 'yes', equalParts: true } },
];

const MAX_BUCKETS = 1_000;

/** What is known about one endpoint; shared by all of its sessions, so that each trait is learned once. */
export class EndpointTraits {
  readonly #log: (message: string, facts: Record<string, unknown>) => void;
  #traits: Traits;
  readonly line = unknownLine();
  /** Per bucket: Object Lock is a property of the bucket. */
  readonly #wantsChecksums = new LRUCache<string, Exclude<Support, 'unknown'>>(atMost(MAX_BUCKETS));

  constructor(
    readonly hostname: string,
    log: (message: string, facts: Record<string, unknown>) => void,
  ) {
    this.#log = log;

    const known = PROVIDERS.find(({ host }) => host.test(hostname));
    this.#traits = { ...UNKNOWN_STORE, ...known?.traits };
  }

  get now(): Traits {
    return this.#traits;
  }

  /** The SDK adds a checksum to every body, in a trailer if it is a stream. */
  get sendsChecksums(): boolean {
    return this.#traits.checksums === 'WHEN_SUPPORTED';
  }

  /** The same for a connection with this setting. */
  sendsChecksumsFor({ checksums }: Pick<S3Connection, 'checksums'>): boolean {
    return this.sendsChecksums && checksums !== 'never';
  }

  /** Whether the bucket refuses bodies that the gateway sends without a checksum, like buckets with Object Lock. */
  wantsChecksums(bucket: string): Support {
    return this.sendsChecksums ? 'no' : (this.#wantsChecksums.get(bucket) ?? 'unknown');
  }

  learnChecksums(bucket: string, value: 'yes' | 'no'): void {
    const known = this.#wantsChecksums.get(bucket);
    // A body that was accepted does not disprove a refusal.
    if (this.sendsChecksums || known === value || known === 'yes') return;
    this.#wantsChecksums.set(bucket, value);
    if (value === 'yes') this.#log('s3 bucket wants checksums', { host: this.hostname, bucket });
  }

  learn<T extends keyof Traits>(trait: T, value: Traits[T], why: string): void {
    if (this.#traits[trait] === value) return;
    this.#traits = { ...this.#traits, [trait]: value };
    this.#log('s3 endpoint deviates', { host: this.hostname, trait, value, why });
  }
}
