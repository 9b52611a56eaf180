import {
  type IHookFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  type JsonObject,
  NodeConnectionTypes,
  NodeOperationError,
} from 'n8n-workflow';
import { EVENT_NAMES } from '../contract/derived/event-texts.js';
import type { CreatedWebhook, Webhook, WebhookEvent } from '../client/types.js';
import { verifyWebhook } from '../client/webhook.js';
import { getConnections } from './connections.js';
import { call } from './request.js';

export class FileTransferGatewayTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'File Transfer Gateway Trigger',
    name: 'fileTransferGatewayTrigger',
    icon: 'file:file-transfer-gateway.svg',
    group: ['trigger'],
    version: 1,
    subtitle: '={{ $parameter["events"].join(", ") }}',
    description: 'Start when files arrive, a transfer fails or a server is down',
    defaults: { name: 'File Transfer Gateway Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'fileTransferGatewayApi', required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        required: true,
        default: ['watched_folder.files_detected'],
        options: Object.entries(EVENT_NAMES)
          .map(([value, name]) => ({ name, value }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
        description: 'The events that start the workflow',
      },
      {
        displayName: 'Connection Names or IDs',
        name: 'connections',
        type: 'multiOptions',
        default: [],
        typeOptions: { loadOptionsMethod: 'getConnections' },
        description:
          'Only events of these connections; none = of all. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
      },
      {
        displayName: 'One Item per File',
        name: 'splitFiles',
        type: 'boolean',
        default: true,
        description:
          'Whether new or changed files come as one item each, with the connection ID, in place of one event',
      },
    ],
  };

  methods = { loadOptions: { getConnections } };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const { webhookId, secret } = this.getWorkflowStaticData('node');
        if (typeof webhookId !== 'string' || typeof secret !== 'string') return false;
        const found = (await listed(this)).find(({ id }) => id === webhookId);
        return found !== undefined && found.isActive && isAsWanted(found, wantedBy(this));
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const wanted = wantedBy(this);
        // Only this node has this address: an existing webhook is from an earlier attempt, or for other events.
        for (const { id, url } of await listed(this)) if (url === wanted.url) await remove(this, id);
        const made = await call<CreatedWebhook>(this, { method: 'POST', path: ['webhooks'], body: { ...wanted } });
        const kept = this.getWorkflowStaticData('node');
        kept['webhookId'] = made.webhook.id;
        kept['secret'] = made.secret;
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        const kept = this.getWorkflowStaticData('node');
        const { webhookId } = kept;
        // The webhook may have been deleted at the gateway.
        if ((await listed(this)).some(({ id }) => id === webhookId)) await remove(this, String(webhookId));
        delete kept['webhookId'];
        delete kept['secret'];
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { secret } = this.getWorkflowStaticData('node');
    // The gateway retries soon: the first event may arrive before n8n's database has the webhook.
    if (typeof secret !== 'string') return answered(this, 503, 'the workflow is not active yet');
    const { headers, rawBody } = this.getRequestObject();
    if (rawBody === undefined) return answered(this, 415, 'the body did not come as JSON');
    let event: WebhookEvent;
    try {
      event = await verifyWebhook(secret, headers, rawBody);
    } catch (thrown) {
      return answered(this, 401, thrown instanceof Error ? thrown.message : 'the signature is wrong');
    }
    // A test checks the delivery; it is no event.
    if (event.type === 'webhook.test') return answered(this, 200, 'the workflow takes events');
    const items = itemsOf(event, this.getNodeParameter('splitFiles') === true);
    // The same in every attempt: the node "Remove Duplicates" can use it.
    const webhookId = headers['webhook-id'];
    return { workflowData: [items.map((json): INodeExecutionData => ({ json: { ...json, webhookId } }))] };
  }
}

function itemsOf(event: WebhookEvent, isSplit: boolean): readonly JsonObject[] {
  if (!isSplit || event.type !== 'watched_folder.files_detected') return [{ ...event }];
  const { connection, watchedFolder, files } = event.data;
  return files.map((file) => ({ ...file, connectionId: connection.id, watchedFolder }));
}

function answered(context: IWebhookFunctions, status: number, message: string): IWebhookResponseData {
  context.getResponseObject().status(status).json({ message });
  return { noWebhookResponse: true };
}

interface Wanted {
  readonly url: string;
  readonly events: readonly string[];
  readonly connections: readonly string[];
}

function wantedBy(context: IHookFunctions): Wanted {
  const url = context.getNodeWebhookUrl('default');
  if (url === undefined) throw new NodeOperationError(context.getNode(), 'n8n gives no address for the webhook');
  const events = context.getNodeParameter('events') as readonly string[];
  const connections = context.getNodeParameter('connections', []) as readonly string[];
  return { url, events, connections };
}

function isAsWanted(webhook: Webhook, wanted: Wanted): boolean {
  const same = (one: readonly string[], other: readonly string[]): boolean =>
    one.length === other.length && one.every((value) => other.includes(value));
  return (
    webhook.url === wanted.url && same(webhook.events, wanted.events) && same(webhook.connections, wanted.connections)
  );
}

async function listed(context: IHookFunctions): Promise<readonly Webhook[]> {
  type Webhooks = { readonly webhooks: readonly Webhook[] };
  return (await call<Webhooks>(context, { method: 'GET', path: ['webhooks'] })).webhooks;
}

async function remove(context: IHookFunctions, id: string): Promise<void> {
  await call(context, { method: 'DELETE', path: ['webhooks', id] });
}
