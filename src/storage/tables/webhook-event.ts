/** New events; filters and results of queries about deliveries. */
import type { Transaction } from '../postgres/sql.js';
import type { Delivery, DeliveryState, DeliveredFile, NewCopy } from '../../contract/delivery.js';

/** An event without its number. */
export interface DraftEvent {
  /** UUIDv7; the `webhook-id` of all its deliveries. */
  readonly id: string;
  readonly type: string;
  readonly accountId: string;
  /** The connections that it is about. */
  readonly connectionIds: readonly string[];
  /** An object, as JSON. */
  readonly body: string;
}

/** An event as its maker adds it to the outbox. */
export interface NewEvent extends Omit<DraftEvent, 'id'> {
  /** Absent = a new one. */
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

/** What a try led to. `gone`: the receiver wants nothing of this folder or webhook any more (410). */
export type AttemptVerdict =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly at: Date }
  | { readonly kind: 'dead' }
  | { readonly kind: 'gone' };

export interface DeliveryFilter {
  readonly watchedFolderId?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly jobId?: string | undefined;
  /** About this one, whatever else they are about. */
  readonly connectionId?: string | undefined;
  readonly type?: string | undefined;
  readonly state?: DeliveryState | undefined;
  /** A part of the receiver's URL, in any case. */
  readonly url?: string | undefined;
  /** Of when they were made: from then on, and until before. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** The columns from which a delivery's queue task is made. */
export type SentDelivery = Pick<Delivery, 'id' | 'url' | 'webhookId'>;

/** Watched folders as receivers: what they receive ends, or begins again. */
export interface FolderReceivers {
  endDeliveries(tx: Transaction, folderId: string, areEnded: boolean): Promise<void>;
}

export interface WebhookReceivers {
  endDeliveries(tx: Transaction, id: string): Promise<void>;
  resumeDeliveries(tx: Transaction, id: string): Promise<void>;
}
