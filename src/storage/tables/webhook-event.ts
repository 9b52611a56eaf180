/** New events; filters and results of queries about deliveries. */
import type { Transaction } from '../postgres/sql.js';
import type { TransferType } from '../../contract/transfer.js';
import type { Delivery, DeliveryState, DeliveredFile, NewCopy } from '../../contract/delivery.js';

/** An event without its number. */
export interface DraftEvent {
  /** UUIDv7; the `webhook-id` of all its deliveries. */
  readonly id: string;
  readonly type: string;
  readonly accountId: string;
  /** The connections that it is about. */
  readonly connectionIds: readonly string[];
  /** The operation of `transfer.succeeded`, which webhooks may choose. */
  readonly operation?: TransferType;
  /** An object, as JSON. */
  readonly body: string;
}

/** An event for the outbox. */
export interface NewEvent extends Omit<DraftEvent, 'id'> {
  /** Absent = a new id. */
  readonly id?: string;
  /** Absent = now. */
  readonly createdAt?: Date;
  /** The thing whose own receiver gets it, in addition to webhooks. */
  readonly receiver?: EventReceiver | undefined;
  readonly fileCount?: number;
  /** The files that are moved or deleted after the delivery to that receiver. */
  readonly files?: readonly DeliveredFile[];
  /** The copies of its files, which are made before it is sent; they need a `receiver`. */
  readonly copies?: readonly NewCopy[];
}

/** A watched folder, whose URL is read when the event is sent, or a job with its URL. */
export interface EventReceiver {
  readonly watchedFolderId?: string;
  readonly jobId?: string;
  readonly webhookUrl?: string;
}

/** The result of an attempt. `gone`: the receiver wants no more deliveries of this folder or webhook (410). */
export type AttemptVerdict =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly at: Date }
  | { readonly kind: 'dead' }
  | { readonly kind: 'gone' };

export interface DeliveryFilter {
  readonly watchedFolderId?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly jobId?: string | undefined;
  /** Events about this connection, and possibly others. */
  readonly connectionId?: string | undefined;
  readonly type?: string | undefined;
  readonly state?: DeliveryState | undefined;
  /** A part of the receiver's URL, in any case. */
  readonly url?: string | undefined;
  /** The range of creation times: from `since` until before `until`. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** The columns from which a delivery's queue task is made. */
export type SentDelivery = Pick<Delivery, 'id' | 'url' | 'webhookId'>;

/** Watched folders as receivers: their deliveries end, or are resumed. */
export interface FolderReceivers {
  /** Taken before its deliveries are changed: every change of the folder locks them in this order. */
  lock(tx: Transaction, folderId: string): Promise<void>;
  endDeliveries(tx: Transaction, folderId: string, areEnded: boolean): Promise<void>;
}

export interface WebhookReceivers {
  /** As for folders. */
  lock(tx: Transaction, id: string): Promise<void>;
  endDeliveries(tx: Transaction, id: string): Promise<void>;
  resumeDeliveries(tx: Transaction, id: string): Promise<void>;
}
