/** The English texts of events. Bundles for browsers and n8n contain only these texts (src/build/derived.ts). */
import { EVENT_TEXTS, EVENT_TYPES, FEED_TYPES as feedTypes, type SubscribedType } from '../event.js';

const textsOf = (which: 'name' | 'text') =>
  Object.fromEntries(EVENT_TYPES.map((type) => [type, EVENT_TEXTS[type][which]])) as Readonly<
    Record<SubscribedType, string>
  >;

export const events = textsOf('text');
export const EVENT_NAMES = textsOf('name');
export const FEED_TYPES = feedTypes;
