/** Filters and results of queries about deliveries. */
import type { Delivery, DeliveryState, DeliveredFile, NewCopy } from '../../contract/delivery.js';

export interface NewEvent {
  /** UUIDv7; the `webhook-id` of every try. */
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly fileCount: number;
  /** What is moved or deleted after the delivery; empty = kept. */
  readonly files: readonly DeliveredFile[];
  /** The copies of its files, which are made before it is sent. */
  readonly copies?: readonly NewCopy[];
  /** Whether the folder's own webhook gets it. */
  readonly isSent: boolean;
  readonly createdAt: Date;
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
