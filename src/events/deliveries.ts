/** Operations on deliveries for the owner of an account: lists, attempts and replays. */
import { refusal, unknown } from '../base/errors.js';
import { isUuid } from '../base/uuid.js';
import type {
  DeliveryAttempt,
  Delivery,
  DeliveryDetail,
  OutgoingDelivery,
  Receiver,
  RouteCopy,
} from '../contract/delivery.js';
import { inFormat } from './format.js';
import {
  type DeliveryFilter,
  type DeliveryPage,
  type EventStorage,
  type ReplayFilter,
  type RouteCopies,
  targetGroup,
  type WatchedFolders,
} from '../storage/storage.js';

interface DeliveryServiceOptions extends Pick<EventStorage, 'deliveries' | 'outgoing' | 'webhooks'> {
  readonly folders: Pick<WatchedFolders, 'find'>;
  readonly copies: Pick<RouteCopies, 'list'>;
}

export class DeliveryService {
  readonly #options: DeliveryServiceOptions;

  constructor(options: DeliveryServiceOptions) {
    this.#options = options;
  }

  /** Newest first. */
  list(accountId: string, filter: DeliveryFilter, page: DeliveryPage): Promise<readonly Delivery[]> {
    return this.#options.deliveries.list(accountId, filter, page);
  }

  /** With the bytes that are signed, in the format that its webhook has now. @throws GatewayError unknown_item */
  async get(accountId: string, id: string): Promise<DeliveryDetail> {
    const found = isUuid(id) ? await this.#options.deliveries.find(accountId, id) : undefined;
    if (found === undefined) throw unknown('webhook event', id);
    const { webhookId, body } = found;
    const webhook = webhookId === null ? undefined : await this.#options.webhooks.find(accountId, webhookId);
    return webhook === undefined ? found : { ...found, body: inFormat(webhook.format, body, accountId).body };
  }

  /** Oldest first. @throws GatewayError unknown_item */
  async attempts(accountId: string, id: string): Promise<readonly DeliveryAttempt[]> {
    return this.#options.outgoing.attempts((await this.#find(accountId, id)).id);
  }

  /** The copies that the delivery waits for; empty for an event without any. @throws GatewayError unknown_item */
  async copies(accountId: string, id: string): Promise<readonly RouteCopy[]> {
    return this.#options.copies.list((await this.#find(accountId, id)).id);
  }

  /** The receivers of the account, and how their deliveries go. */
  receivers(accountId: string): Promise<readonly Receiver[]> {
    return this.#options.deliveries.receivers(accountId);
  }

  /**
   * Sends an event again under its old id; `queued` is false while it is still pending. Errors: unknown_item,
   * bad_request
   */
  async replay(accountId: string, id: string): Promise<{ readonly queued: boolean }> {
    const event = await this.#find(accountId, id);
    return { queued: await this.#options.outgoing.replay(event, await this.#groupOf(event)) };
  }

  /** How many `replayAll` would send; at most one more than it sends at once. */
  countReplayable(accountId: string, filter: ReplayFilter): Promise<number> {
    return this.#options.deliveries.countReplayable(accountId, filter);
  }

  /** Sends all that match again; resolves to how many there are. */
  replayAll(accountId: string, filter: ReplayFilter): Promise<number> {
    return this.#options.deliveries.replay(accountId, filter);
  }

  async #find(accountId: string, id: string): Promise<OutgoingDelivery> {
    const event = isUuid(id) ? await this.#options.outgoing.findOf(accountId, id) : undefined;
    if (event === undefined) throw unknown('webhook event', id);
    return event;
  }

  /** The deliveries that share a receiver with this one. @throws GatewayError if the receiver has been removed */
  async #groupOf({ accountId, watchedFolderId, webhookId, ...event }: OutgoingDelivery): Promise<string> {
    if (webhookId !== null) {
      if ((await this.#options.webhooks.find(accountId, webhookId)) !== undefined) return webhookId;
      throw refusal('bad_request', 'the webhook that the event was for has been deleted');
    }
    const folder = watchedFolderId === null ? event : await this.#options.folders.find(accountId, watchedFolderId);
    if (folder === undefined) throw unknown('watched folder', watchedFolderId ?? '');
    if (folder.webhookUrl === null) throw refusal('bad_request', 'this watched folder has no webhookUrl');
    return targetGroup(folder.webhookUrl);
  }
}
