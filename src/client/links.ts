/** Links: URLs that allow one thing without a key. A link is used with plain `fetch`. */
import type { components } from './api-types.js';
import { at, changingOnce, deleting, fieldsOf, pagesOf, reading } from './calls.js';
import type { CallOptions, Transport } from './transport.js';
import type { LinksQuery } from './types.js';

type Schemas = components['schemas'];

export type Link = Schemas['Link'];
export type NewLink = Schemas['NewLink'];
/** With its `url`, which no other answer contains. */
export type CreatedLink = Schemas['CreatedLink'];

const ALL = '/api/links';

type Answer = { readonly link: Link };

export class Links {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async create(link: NewLink, options: CallOptions = {}): Promise<CreatedLink> {
    type Created = { readonly link: CreatedLink };
    return (await this.#transport.json<Created>(changingOnce(ALL, options, link))).link;
  }

  /** Newest first, requested page by page; `limit` applies to a page. */
  async *list(options: CallOptions & LinksQuery = {}): AsyncGenerator<Link, void, undefined> {
    const pages = pagesOf<Schemas['LinksAnswer']>(this.#transport, ALL, options, fieldsOf(options));
    for await (const { links } of pages) yield* links;
  }

  async get(id: string, options: CallOptions = {}): Promise<Link> {
    return (await this.#transport.json<Answer>(reading(at(ALL, id), options))).link;
  }

  /** From now on, the link is answered with 410. */
  async revoke(id: string, options: CallOptions = {}): Promise<Link> {
    return (await this.#transport.json<Answer>(deleting(at(ALL, id), options))).link;
  }
}
