/** Links: URLs that need no key and do one thing. Whoever has one uses it with `fetch` alone. */
import type { components } from './api-types.js';
import { changingOnce, reading } from './calls.js';
import type { CallOptions, Transport } from './transport.js';

type Schemas = components['schemas'];

export type Link = Schemas['Link'];
export type NewLink = Schemas['NewLink'];
/** With its `url`, which no other answer holds. */
export type CreatedLink = Schemas['CreatedLink'];

type Answer = { readonly link: Link };

export class Links {
  constructor(private readonly transport: Transport) {}

  async create(link: NewLink, options: CallOptions = {}): Promise<CreatedLink> {
    type Created = { readonly link: CreatedLink };
    return (await this.transport.json<Created>(changingOnce('/api/links', options, link))).link;
  }

  /** Newest first, page after page as they are asked for. */
  async *list(options: CallOptions = {}): AsyncGenerator<Link, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.transport.json<Schemas['LinksAnswer']>(reading('/api/links', options, { cursor }));
      yield* page.links;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  async get(id: string, options: CallOptions = {}): Promise<Link> {
    return (await this.transport.json<Answer>(reading(at(id), options))).link;
  }

  /** From now on whoever has it gets 410. */
  async revoke(id: string, options: CallOptions = {}): Promise<Link> {
    return (await this.transport.json<Answer>({ method: 'DELETE', path: at(id), repetition: 'repeatable', options }))
      .link;
  }
}

function at(id: string): string {
  return `/api/links/${encodeURIComponent(id)}`;
}
