/** Bearer key, or the cookie of a login session → caller. */
import { GatewayError } from '../errors.js';
import type { Accounts } from '../storage/storage.js';
import { isInBlocks } from './client-address.js';
import type { Limiter } from './rate.js';
import type { Caller, HttpRequest, Route } from './types.js';

/** Printable, starting with the prefix: anything else is refused without a look-up. */
const KEY_SHAPE = /^ftg_[\x21-\x7e]{1,196}$/;

/** Login sessions, as the router needs them. */
export interface Sessions {
  /**
   * The caller of the request's session cookie; undefined when it has none.
   * Errors: unauthenticated (ended, unknown), csrf_rejected.
   */
  authenticate(request: HttpRequest): Promise<Caller | undefined>;
}

export class Authenticator {
  constructor(
    private readonly accounts: Pick<Accounts, 'findKey'>,
    private readonly failures: Limiter,
    private readonly sessions?: Sessions,
  ) {}

  /** Errors: unauthenticated (one text for unknown, expired and revoked), forbidden, scope_missing, rate_limited. */
  async authenticate(request: HttpRequest, access: Exclude<Route['access'], 'public'>): Promise<Caller> {
    // A request that brings a key means that key, whatever cookies a browser adds to it.
    const session = request.headers.has('authorization') ? undefined : await this.sessions?.authenticate(request);
    if (session !== undefined) return session;
    const match = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '');
    const key = match?.[1];
    const record = key !== undefined && KEY_SHAPE.test(key) ? await this.accounts.findKey(key) : undefined;
    if (record === undefined || (record.expiresAt !== null && record.expiresAt.getTime() <= Date.now())) {
      // A page that asks whether somebody is logged in has guessed nothing.
      const isGuess = access !== 'owner' || request.headers.has('authorization');
      if (isGuess) await this.countFailure(request.remoteAddress);
      const needed =
        access === 'owner'
          ? 'a login session or an admin key is needed'
          : 'a valid API key is needed: Authorization: Bearer ftg_…';
      throw new GatewayError('unauthenticated', needed, { step: 'request' });
    }
    if (record.allowedIps.length > 0 && !isInBlocks(request.remoteAddress, record.allowedIps)) {
      throw new GatewayError('forbidden', 'this API key may not be used from this address', { step: 'request' });
    }
    const scope = access === 'owner' ? 'admin' : access;
    if (scope !== 'any' && !record.scopes.includes(scope)) {
      throw new GatewayError('scope_missing', `this API key lacks the scope "${scope}"`, { step: 'request' });
    }
    // The owner's view has everything; a key that is for some connections alone must not see it.
    if (access === 'owner' && record.connections.length > 0) {
      throw new GatewayError('forbidden', 'an admin key must not be limited to connections', { step: 'request' });
    }
    return record;
  }

  /** Good keys are let pass meanwhile: behind a proxy all clients have one address. */
  private async countFailure(address: string): Promise<void> {
    const { isOver, msBeforeNext } = await this.failures(address);
    if (!isOver) return;
    throw new GatewayError('rate_limited', 'too many requests with a bad API key from this address', {
      step: 'request',
      retryAfterMs: msBeforeNext,
    });
  }
}
