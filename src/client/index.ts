/** The typed client: `import { FileTransferGateway } from 'file-transfer-gateway-client'`. Node 20 and later, and browsers. */
export type { Bytes, Progress, UploadBody } from './body.js';
export type { NetworkReason } from './causes.js';
export type { ChangeOptions, FileOptions } from './calls.js';
export { FileTransferGateway, type ListOptions, type UploadFromUrlOptions, type UploadOptions } from './client.js';
export type { Download, DownloadOptions } from './download.js';
export { FtgError, type FtgErrorCode } from './errors.js';
export type { FileVersion } from './file-version.js';
export type { JobEvent, Jobs } from './jobs.js';
export type { EventsOptions } from './events.js';
export type { CreatedLink, Link, Links, NewLink } from './links.js';
export type { Receipt, ReceiptsOptions } from './receipts.js';
export type { ResumableBody, ResumableOptions } from './resumable.js';
export type { Schedules } from './schedules.js';
export type { RetryOptions } from './transport.js';
export type { CallOptions, ClientOptions } from './transport.js';
export type * from './types.js';
export type { Webhooks } from './webhooks.js';
export { verifyWebhook, WebhookVerificationError, type WebhookHeaders, type WebhookOptions } from './webhook.js';
