/** An event on its way to a receiver, and its tries. */
import type { NewCopy } from './route-copies.js';

/** A file as it was when it was reported. */
export interface DeliveredFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
  /** The store's own tag, where it has one. */
  readonly etag?: string;
  /** Whether a file that replaced it would show; absent in events of version 1.0. */
  readonly isExact?: boolean;
}

export interface NewEvent {
  /** UUIDv7; the `webhook-id` of every try. */
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly fileCount: number;
  /** What is moved or deleted after the delivery; empty = kept. */
  readonly files: readonly DeliveredFile[];
  /** Of each of its files, where they are copied before anybody is told of them. */
  readonly copies?: readonly NewCopy[];
  /** Whether the folder's own webhook is told. */
  readonly isSent: boolean;
  readonly createdAt: Date;
}

export type EventState = 'pending' | 'delivered' | 'dead' | 'cancelled';

/** An event on its way to one receiver: that of its folder, of its job, or a webhook. */
export interface WebhookEvent {
  /** Of the delivery; to a folder's own receiver or a job's it is the event's. */
  readonly id: string;
  /** The `webhook-id` of every try. */
  readonly eventId: string;
  /** null of all others. */
  readonly folderId: string | null;
  readonly jobId: string | null;
  readonly webhookId: string | null;
  /** Of a job's; the others have their own. */
  readonly webhookUrl: string | null;
  readonly accountId: string;
  readonly type: string;
  readonly body: string;
  readonly fileCount: number;
  readonly files: readonly DeliveredFile[];
  readonly state: EventState;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
  /** Nothing is sent while copies are pending. */
  readonly copyState: 'none' | 'pending' | 'done';
  readonly copiesFailed: number;
  readonly afterAction: 'none' | 'pending' | 'done';
  readonly deliveredAt: Date | null;
  readonly createdAt: Date;
  /** When this was read, by the database's clock. */
  readonly readAt: Date;
}

export interface NewAttempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Of the answer; null when there was none. */
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** The first 4 kB. */
  readonly answer: string | null;
  /** Where it went, without a login; null of tries of version 1.0. */
  readonly url: string | null;
  /** What is shown of them: bounded, and without secrets. */
  readonly requestHeaders: Readonly<Record<string, string>> | null;
  readonly answerHeaders: Readonly<Record<string, string>> | null;
}

export interface Attempt extends NewAttempt {
  readonly id: string;
}

/** What a try led to. `gone`: the receiver wants nothing of this folder or webhook any more (410). */
export type AttemptVerdict =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly at: Date }
  | { readonly kind: 'dead' }
  | { readonly kind: 'gone' };

export interface DeliveryFilter {
  readonly folderId?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly jobId?: string | undefined;
  /** About this one, whatever else they are about. */
  readonly connectionId?: string | undefined;
  readonly type?: string | undefined;
  readonly state?: EventState | undefined;
  /** A part of the receiver's URL, in any case. */
  readonly url?: string | undefined;
  /** Of when they were made: from then on, and until before. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** A delivery in a list: without what it says, which may be long. */
export interface DeliveryRow extends Omit<WebhookEvent, 'body' | 'files' | 'readAt' | 'webhookUrl' | 'accountId'> {
  /** Of its receiver as it is now, without a login. */
  readonly url: string | null;
  readonly connectionIds: readonly string[];
}

/** How the deliveries to a receiver of many events go. */
export interface ReceiverState {
  /** One of both. */
  readonly folderId: string | null;
  readonly webhookId: string | null;
  readonly dead: number;
  /** Have failed, and are tried again. */
  readonly retrying: number;
  readonly lastDeliveredAt: Date | null;
  /** Since when nothing has arrived of what was tried; null = the last that was tried did. */
  readonly failingSince: Date | null;
  /** What the last try met; null where nothing waits or was given up. */
  readonly lastStatus: number | null;
  readonly lastErrorMessage: string | null;
}
