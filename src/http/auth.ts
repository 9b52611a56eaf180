/** Finds the caller of a bearer key, or of a login session's cookie. */
import { type GatewayError, hasCode, refusal } from '../base/errors.js';
import type { ApiKeyRecord, ApiKeys } from '../storage/storage.js';
import { isInBlocks } from './client-address.js';
import { GuessGuard } from './guess-guard.js';
import type { Failures } from './rate-limits.js';
import type { Caller, HttpRequest, Route } from './types.js';

/** Printable, starting with the prefix: anything else is refused without a look-up. */
const KEY_SHAPE = /^ftg_[\x21-\x7e]{1,196}$/;
/** Login sessions, as the router needs them. */
export interface Sessions {
  /** The value of the request's session cookie; undefined if it has none. */
  token(request: HttpRequest): string | undefined;
  /**
   * The caller of the request's session cookie; undefined if it has none. Errors: unauthenticated (ended, unknown),
   * csrf_rejected.
   */
  authenticate(request: HttpRequest): Promise<Caller | undefined>;
  /** Whether the session of the request's cookie is still valid; does not extend it. */
  stillLives(request: HttpRequest): Promise<boolean>;
}

export class Authenticator {
  readonly #keys: Pick<ApiKeys, 'findKey' | 'recallKey'>;
  readonly #sessions: Sessions | undefined;
  readonly #guard: GuessGuard;
  readonly #sessionGuard: GuessGuard;

  constructor(keys: Pick<ApiKeys, 'findKey' | 'recallKey'>, failures: Failures, sessions?: Sessions) {
    this.#keys = keys;
    this.#sessions = sessions;

    this.#guard = new GuessGuard(failures, 'API key');
    this.#sessionGuard = new GuessGuard(failures, 'login session');
  }

  /** Errors: unauthenticated (one text for unknown, expired and revoked), forbidden, scope_missing, rate_limited. */
  async authenticate(request: HttpRequest, access: Exclude<Route['access'], 'public'>): Promise<Caller> {
    // A request with a key uses that key, even if a browser adds cookies.
    const session = request.headers.has('authorization') ? undefined : await this.#sessionOf(request);
    if (session !== undefined) return session;
    const record = await this.#keyOf(bearerOf(request), request, access);
    if (record === undefined) {
      const needed =
        access === 'owner'
          ? 'a login session or an admin key is needed'
          : 'a valid API key is needed: Authorization: Bearer ftg_…';
      throw refusal('unauthenticated', needed);
    }
    return admit(record, request, access);
  }

  /**
   * The caller of a key that was valid a moment ago, without a look-up and without counting guesses. undefined: call
   * `authenticate`. @throws GatewayError forbidden, scope_missing
   */
  recall(request: HttpRequest, access: Exclude<Route['access'], 'public'>): Caller | undefined {
    const key = bearerOf(request);
    const record = key === undefined ? undefined : this.#keys.recallKey(key);
    return record === undefined ? undefined : admit(record, request, access);
  }

  /** Whether the key or session of a long answer still has this access; does not extend a session. */
  async stillOpens(request: HttpRequest, access: Exclude<Route['access'], 'public'>): Promise<boolean> {
    try {
      const isSession = !request.headers.has('authorization') && this.#sessions?.token(request) !== undefined;
      if (isSession) return await this.#sessions.stillLives(request);
      await this.authenticate(request, access);
      return true;
    } catch (error) {
      return !hasCode(error, 'unauthenticated', 'forbidden', 'scope_missing');
    }
  }

  async #keyOf(
    key: string | undefined,
    request: HttpRequest,
    access: Route['access'],
  ): Promise<ApiKeyRecord | undefined> {
    const isShaped = key !== undefined && KEY_SHAPE.test(key);
    // A page that asks whether it is logged in has not guessed a secret.
    if (!isShaped && access === 'owner' && !request.headers.has('authorization')) return undefined;
    return this.#guard.unlessGuessing(request, key ?? '', async () => {
      const record = isShaped ? await this.#keys.findKey(key) : undefined;
      const expiresAt = record?.expiresAt ?? null;
      return expiresAt !== null && expiresAt.getTime() <= Date.now() ? undefined : record;
    });
  }

  async #sessionOf(request: HttpRequest): Promise<Caller | undefined> {
    const token = this.#sessions?.token(request);
    if (token === undefined) return undefined;
    let refusal: GatewayError | undefined;
    const caller = await this.#sessionGuard.unlessGuessing(request, token, async () => {
      try {
        return await this.#sessions?.authenticate(request);
      } catch (error) {
        if (!hasCode(error, 'unauthenticated')) throw error;
        refusal = error;
        return undefined;
      }
    });
    if (refusal !== undefined) throw refusal;
    return caller;
  }
}

function bearerOf({ headers }: HttpRequest): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
}

/** @throws GatewayError forbidden, scope_missing */
export function admit(
  record: ApiKeyRecord,
  { remoteAddress }: HttpRequest,
  access: Exclude<Route['access'], 'public'>,
): Caller {
  if (record.allowedIps.length > 0 && !isInBlocks(remoteAddress, record.allowedIps)) {
    throw refusal('forbidden', 'this API key may not be used from this address');
  }
  const scope = access === 'owner' ? 'admin' : access;
  if (scope !== 'any' && !record.scopes.includes(scope)) {
    throw refusal('scope_missing', `this API key lacks the scope "${scope}"`);
  }
  // The owner's view shows everything; a key that is limited to some connections must not see it.
  if (access === 'owner' && record.connections.length > 0) {
    throw refusal('forbidden', 'an admin key must not be limited to connections');
  }
  return record;
}
