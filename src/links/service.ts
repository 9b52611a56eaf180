/**
 * Links: who may make, see and revoke them. A key that is limited to some connections knows only the links of those,
 * and makes and revokes links only for operations that it may do itself.
 */
import { type Caller, connectionsFor, apiKeyIdOf, mayUse } from '../base/caller.js';
import type { Scope } from '../contract/scopes.js';
import type { EndSignal } from '../base/ending.js';
import { GatewayError, refusal, unknown } from '../base/errors.js';
import { isUuid } from '../base/uuid.js';
import type { Connection } from '../connections/connection.js';
import { knownPath } from '../operations/known-path.js';
import type { LinkUse, Operations } from '../operations/operation.js';
import { parseFileName, ROOT } from '../remotes/path.js';
import type { Link, LinkSettings } from '../contract/link.js';
import type { Actor, Links, OpenedLink } from '../storage/storage.js';
import { LinkEnded } from './refusals.js';
import { DAY_MS } from '../contract/units.js';

interface LinkOrder extends Omit<LinkSettings, 'connectionId'> {
  /** Found, and allowed. */
  readonly connection: Connection;
}

interface LinkServiceOptions {
  readonly rows: Links;
  readonly operations: Operations;
  readonly limits: { readonly maxDays: number; readonly perAccount: number; readonly usesAtOnce: number };
}

const NEEDS: Readonly<Record<Link['operation'], Scope>> = { upload: 'write', download: 'read' };

export class LinkService {
  readonly #options: LinkServiceOptions;

  constructor(options: LinkServiceOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the link and the secret of its URL. Errors: bad_request, bad_path, connection_inactive,
   * scope_missing, share_exceeded
   */
  async create(
    actor: Actor,
    caller: Caller,
    { connection, ...order }: LinkOrder,
    signal: EndSignal,
  ): Promise<{ readonly link: Link; readonly token: string }> {
    const { rows, operations, limits } = this.#options;
    const { operation, filename, overwrite, folders, expiresAt } = order;
    requireScope(caller, operation);
    const leftMs = expiresAt.getTime() - Date.now();
    if (!(leftMs > 0 && leftMs <= limits.maxDays * DAY_MS)) {
      throw refusal('bad_request', `expiresAt must be in the future, and within ${limits.maxDays} days`);
    }
    if (filename !== null) parseFileName(filename, 'filename');
    for (const [field, isSet] of Object.entries({ overwrite, folders })) {
      if (isSet && operation === 'download') throw refusal('bad_request', `${field} is for upload links`);
    }
    if (folders && filename !== null) throw refusal('bad_request', 'folders is for links without a filename');
    const path = await knownPath(operations, { connection, path: order.path }, 'path', signal);
    // The slash at its end is kept: it says that the path is the folder, and never the file itself.
    const isFolder = operation === 'upload' && path !== ROOT && (folders || order.path.endsWith('/'));
    if (operation === 'download' && path === ROOT) throw refusal('bad_path', 'path must name a file');
    // The path is stored as text.
    if (!path.isWellFormed()) throw refusal('bad_path', 'path must be UTF-8: the login folder of the server is not');
    return rows.create(
      actor,
      apiKeyIdOf(caller),
      { ...order, path: isFolder ? `${path}/` : path, connectionId: connection.id },
      limits.perAccount,
    );
  }

  list(
    caller: Caller,
    page: { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<readonly Link[]> {
    return this.#options.rows.list(caller.accountId, { ...page, connections: connectionsFor(caller) });
  }

  /** @throws GatewayError unknown_item, even if it exists but the key may not use its connection */
  async get(caller: Caller, id: string): Promise<Link> {
    const link = isUuid(id) ? await this.#options.rows.find(caller.accountId, id) : undefined;
    if (link !== undefined && mayUse(caller, [link.connectionId])) return link;
    throw unknown('link', id);
  }

  /** @throws GatewayError unknown_item; scope_missing */
  async revoke(actor: Actor, caller: Caller, id: string): Promise<Link> {
    const link = await this.get(caller, id);
    requireScope(caller, link.operation);
    const revoked = await this.#options.rows.revoke(actor, link);
    if (revoked === undefined) throw unknown('link', id);
    return revoked;
  }

  /** By the secret of its URL; undefined: there is none. It may have ended. */
  open(token: string): Promise<OpenedLink | undefined> {
    return this.#options.rows.open(token);
  }

  /** One use of it, taken when its operation begins. */
  useOf({ id }: OpenedLink): LinkUse {
    return {
      id,
      giveBack: (uploadId) => this.#options.rows.giveBack(id, uploadId),
      countBroken: () => this.#options.rows.countBroken(id),
      take: async (uploadId) => {
        const most = this.#options.limits.usesAtOnce;
        const taken = await this.#options.rows.take(id, most, uploadId);
        if (taken === 'ended') throw new LinkEnded('used_up');
        if (taken === 'taken') return;
        const text = `this link has ${most} transfers under way, as many as it may`;
        throw new GatewayError('share_exceeded', text, { step: 'acquire', retryAfterMs: 1_000 });
      },
    };
  }
}

/** The caller of a link: its key, or its account's owner, with only the rights of the link. */
export function callerOf({ accountId, email, plan, keyId }: OpenedLink): Caller {
  return { accountId, email, plan, keyId: keyId ?? '', scopes: [], connections: [] };
}

function requireScope({ scopes }: Caller, operation: Link['operation']): void {
  const scope = NEEDS[operation];
  if (scopes.includes(scope)) return;
  throw refusal('scope_missing', `this API key lacks the scope "${scope}", which ${operation} links need`);
}
