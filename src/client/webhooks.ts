/** Webhooks: receivers of the account's events. */
import { at, changingOnce, deleting, patching, reading } from './calls.js';
import type { CallOptions, Transport } from './transport.js';
import type * as api from './types.js';

const ALL = '/api/webhooks';

type Answer = { readonly webhook: api.Webhook };

export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Oldest first. */
  async list(options: CallOptions = {}): Promise<readonly api.Webhook[]> {
    type Listed = { readonly webhooks: readonly api.Webhook[] };
    return (await this.#transport.json<Listed>(reading(ALL, options))).webhooks;
  }

  async get(id: string, options: CallOptions = {}): Promise<api.Webhook> {
    return (await this.#transport.json<Answer>(reading(at(ALL, id), options))).webhook;
  }

  /** Only this answer contains its secret. */
  create(webhook: api.NewWebhook, options: CallOptions = {}): Promise<api.CreatedWebhook> {
    return this.#transport.json(changingOnce(ALL, options, webhook));
  }

  /** Absent fields keep their values. */
  async change(id: string, changes: api.WebhookChanges, options: CallOptions = {}): Promise<api.Webhook> {
    return (await this.#transport.json<Answer>(patching(at(ALL, id), options, changes))).webhook;
  }

  /** Also cancels its undelivered events. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.json(deleting(at(ALL, id), options));
  }

  /** Resolves with the new secret. For 24 hours, events are also signed with the former one. */
  async rotateSecret(id: string, options: CallOptions = {}): Promise<string> {
    type Rotated = { readonly secret: string };
    return (await this.#transport.json<Rotated>(changingOnce(`${at(ALL, id)}/rotate-secret`, options))).secret;
  }

  /** Sends one test message, once, and resolves with the receiver's answer. */
  async test(id: string, options: CallOptions = {}): Promise<api.WebhookTest> {
    type Tested = { readonly test: api.WebhookTest };
    return (await this.#transport.json<Tested>(changingOnce(`${at(ALL, id)}/test`, options))).test;
  }
}
