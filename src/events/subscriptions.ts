/**
 * Lists, creates and changes webhooks. A key that is limited to some connections can only use webhooks that are limited to
 * some of these connections.
 */
import { type Caller, mayUse, requireUse } from '../base/caller.js';
import { refusal, unknown } from '../base/errors.js';
import { isUuid, uuidv7 } from '../base/uuid.js';
import { requireConnection } from '../connections/require.js';
import { withDefaults } from '../contract/thing.js';
import { type Webhook, webhookFields, type WebhookSettings } from '../contract/webhook.js';
import type { NewAttempt } from '../contract/delivery.js';
import type { Actor, Connections, Webhooks } from '../storage/storage.js';
import type { Sender } from './send.js';
import { eventBody } from '../contract/event.js';
import { inFormat } from './format.js';
import type { CheckTarget } from './target.js';
import { trySending } from './try.js';

interface SubscriptionsOptions {
  readonly rows: Webhooks;
  readonly connections: Pick<Connections, 'find'>;
  /** The most webhooks of one account. */
  readonly most: number;
  readonly checkTarget: CheckTarget;
  readonly sender: Pick<Sender, 'send'>;
}

/** A test message, and the result of sending it. */
interface WebhookTest {
  readonly id: string;
  readonly body: string;
  readonly isDelivered: boolean;
  readonly attempt: NewAttempt;
}

/** The most concurrent tests of one account, and of all accounts on this node. Each test holds a socket. */
const TESTS_OF_ACCOUNT = 2;
const TESTS = 16;

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  /** The number of running tests by account. */
  readonly #testing = new Map<string, number>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  async list(caller: Caller): Promise<readonly Webhook[]> {
    return (await this.#options.rows.list(caller.accountId)).filter((webhook) => maySee(caller, webhook));
  }

  /** @throws GatewayError unknown_item, even if it exists but the key may not use its connections */
  async get(caller: Caller, id: string): Promise<Webhook> {
    const webhook = isUuid(id) ? await this.#options.rows.find(caller.accountId, id) : undefined;
    if (webhook !== undefined && maySee(caller, webhook)) return webhook;
    throw unknown('webhook', id);
  }

  /** Returns its secret, which is shown only here. Errors: bad_request, unknown_connection, forbidden, address_denied, share_exceeded */
  async create(
    actor: Actor,
    caller: Caller,
    fields: Partial<WebhookSettings> & Pick<WebhookSettings, 'url' | 'events'>,
    signal: AbortSignal,
  ): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
    const settings = withDefaults(webhookFields, fields);
    const connections = await this.#connectionsOf(caller, settings.connections);
    await this.#options.checkTarget(settings.url, caller.accountId, signal, 'url');
    return this.#options.rows.create(actor, { ...settings, connections }, this.#options.most);
  }

  /** Absent fields keep their values. Errors: as `create`, except share_exceeded; unknown_item */
  async edit(
    actor: Actor,
    caller: Caller,
    id: string,
    fields: Partial<WebhookSettings>,
    signal: AbortSignal,
  ): Promise<Webhook> {
    await this.get(caller, id);
    const connections = fields.connections && (await this.#connectionsOf(caller, fields.connections));
    if (fields.url !== undefined) await this.#options.checkTarget(fields.url, caller.accountId, signal, 'url');
    const changes = Object.entries({ ...fields, connections }).filter(([, value]) => value !== undefined);
    const edited = await this.#options.rows.edit(actor, id, Object.fromEntries(changes));
    if (edited === undefined) throw unknown('webhook', id);
    return edited;
  }

  /** @throws GatewayError unknown_item */
  async remove(actor: Actor, caller: Caller, id: string): Promise<void> {
    await this.get(caller, id);
    if (!(await this.#options.rows.remove(actor, id))) throw unknown('webhook', id);
  }

  /** Makes a new secret; for a day, the former one signs as well. @throws GatewayError unknown_item */
  async rotateSecret(actor: Actor, caller: Caller, id: string): Promise<string> {
    return this.#options.rows.rotateSecret(actor, await this.get(caller, id));
  }

  /**
   * Sends a signed test message once, and waits for the answer. The message is not an event: it is in no feed, its answer
   * changes nothing, and inactive webhooks receive it too.
   * Errors: unknown_item; rate_limited
   */
  async test(caller: Caller, id: string, signal: AbortSignal): Promise<WebhookTest> {
    const { accountId } = caller;
    const webhook = await this.get(caller, id);
    const own = this.#testing.get(accountId) ?? 0;
    if (own >= TESTS_OF_ACCOUNT || [...this.#testing.values()].reduce((sum, one) => sum + one, 0) >= TESTS) {
      throw refusal('rate_limited', 'other tests still wait for their answer; try again once they have it');
    }
    this.#testing.set(accountId, own + 1);
    try {
      const target = await this.#options.rows.targetOf(webhook.id, { evenEnded: true });
      if (target === undefined) throw unknown('webhook', id);
      const startedAt = new Date();
      const message = { id: uuidv7(), ...target, owner: accountId, startedAt };
      const event = eventBody(
        'webhook.test',
        startedAt,
        { webhook: { id: webhook.id, events: [...webhook.events] } },
        message.id,
      );
      const formatted = inFormat(target.format, event, accountId);
      const { attempt } = await trySending(this.#options.sender, { ...message, ...formatted }, signal);
      const { status } = attempt;
      return {
        id: message.id,
        body: formatted.body,
        isDelivered: status !== null && status >= 200 && status <= 299,
        attempt,
      };
    } finally {
      const left = (this.#testing.get(accountId) ?? 1) - 1;
      if (left === 0) this.#testing.delete(accountId);
      else this.#testing.set(accountId, left);
    }
  }

  /** If none are named, all connections of the key. */
  async #connectionsOf(caller: Caller, named: readonly string[]): Promise<readonly string[]> {
    for (const id of named) {
      await requireConnection(this.#options.connections, caller.accountId, id);
      requireUse(caller, id);
    }
    return named.length > 0 ? [...new Set(named)] : caller.connections;
  }
}

/** A webhook without connections receives the events of all of them, so a limited key must not see it. */
function maySee(caller: Caller, { connections }: Webhook): boolean {
  return caller.connections.length === 0 || (connections.length > 0 && mayUse(caller, connections));
}
