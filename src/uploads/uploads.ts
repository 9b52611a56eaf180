/** Assembles the parts of resumable uploads. */
import type { Config } from '../config/schema.js';
import type { Operations } from '../operations/operation.js';
import type { Storage, StorageOptions } from '../storage/storage.js';
import { Expiry } from './expiry.js';
import { MultipartUploads } from './multipart.js';
import { UploadService } from './service.js';

interface UploadsOptions {
  readonly storage: Pick<Storage, 'agenda' | 'connections' | 'multipart' | 'uploads'>;
  readonly operations: Operations;
  readonly config: Config['uploads'];
  /** For one upload; 0 = no limit. */
  readonly maxBytes: number;
  readonly log: StorageOptions['log'];
}

interface UploadsPart {
  readonly service: UploadService;
  /** For the S3 front. */
  readonly multipart: MultipartUploads;
  /** Not started here: one thread of the process removes expired uploads. */
  readonly expiry: Expiry;
}

export function createUploads({ storage, operations, config, maxBytes, log }: UploadsOptions): UploadsPart {
  const { uploads: store, multipart: parts, connections, agenda } = storage;
  const limits = { unfinished: config.unfinishedPerAccount, expireHours: config.expireHours };
  const options = { store, parts, operations, limits, maxBytes };
  const service = new UploadService(options);
  const multipart = new MultipartUploads(options, service);
  return { service, multipart, expiry: new Expiry({ store, agenda, connections, service, log }) };
}
