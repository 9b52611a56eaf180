/** The bytes of a message in the format that its webhook has chosen. */
import type { Webhook } from '../contract/webhook.js';

interface Formatted {
  readonly body: string;
  readonly contentType: string;
}

interface StandardBody {
  readonly sequence?: number;
  readonly id: string;
  readonly previousId?: string | null;
  readonly type: string;
  readonly timestamp: string;
  readonly data: unknown;
}

/**
 * `body` is that of the feed. CloudEvents: version 1.0 in JSON, in structured mode; `source` is the account, and the
 * number and the event before it are extensions.
 */
export function inFormat(format: Webhook['format'], body: string, accountId: string): Formatted {
  if (format === 'standard') return { body, contentType: 'application/json' };
  const { sequence, id, previousId, type, timestamp, data } = JSON.parse(body) as StandardBody;
  const event = {
    specversion: '1.0',
    id,
    source: `urn:uuid:${accountId}`,
    type,
    time: timestamp,
    datacontenttype: 'application/json',
    // Null is not a value of an attribute.
    ...(sequence === undefined ? {} : { sequence: String(sequence) }),
    ...(typeof previousId === 'string' ? { previousid: previousId } : {}),
    data,
  };
  return { body: JSON.stringify(event), contentType: 'application/cloudevents+json' };
}
