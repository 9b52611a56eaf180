/** Login sessions over HTTP: the cookie, the CSRF token, and which origins may use them. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ALL_SCOPES } from '../../contract/scopes.js';
import { GatewayError, refusal } from '../../base/errors.js';
import type { Sessions } from '../../http/auth.js';
import type { Caller, HttpRequest } from '../../http/types.js';
import type { Management } from '../../storage/storage.js';

interface OwnerSessionsOptions {
  readonly sessions: Management['sessions'];
  /** server.publicUrl; "" = none. */
  readonly publicUrl: string;
  /** The gateway itself serves TLS. */
  readonly isTls: boolean;
}

export class OwnerSessions implements Sessions {
  readonly #options: OwnerSessionsOptions;
  readonly #isSecure: boolean;
  readonly #cookieName: string;
  readonly #publicOrigin: string | undefined;

  constructor(options: OwnerSessionsOptions) {
    this.#options = options;

    this.#publicOrigin = URL.canParse(options.publicUrl) ? new URL(options.publicUrl).origin : undefined;
    this.#isSecure = options.isTls || this.#publicOrigin?.startsWith('https:') === true;
    // Browsers accept a name with this prefix only from this host, over TLS and for every path (RFC 6265bis, 4.1.3.2).
    this.#cookieName = this.#isSecure ? '__Host-ftg_session' : 'ftg_session';
  }

  async authenticate(request: HttpRequest): Promise<Caller | undefined> {
    const token = this.token(request);
    if (token === undefined) return undefined;
    // A page that polls unattended must not keep the session alive.
    const isAttended = !request.headers.has('x-unattended');
    const session = await this.#options.sessions.find(token, isAttended);
    if (session === undefined) {
      throw new GatewayError('unauthenticated', 'the login session has ended; log in again', {
        step: 'request',
        sessionEnd: await this.#options.sessions.whyEnded(token),
      });
    }
    this.requireSameOrigin(request);
    const csrfToken = csrfTokenOf(token);
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    if (!isReading && !isEqual(request.headers.get('x-csrf-token') ?? '', csrfToken)) {
      throw rejected('the header X-CSRF-Token must hold the csrfToken of GET /manage/session');
    }
    const { id, accountId, email, plan } = session;
    return { accountId, email, plan, keyId: id, scopes: ALL_SCOPES, connections: [], session: { id, csrfToken } };
  }

  /** Whether the session behind a long answer is still valid; does not keep it alive. */
  async stillLives(request: HttpRequest): Promise<boolean> {
    const token = this.token(request);
    return token !== undefined && (await this.#options.sessions.find(token, false)) !== undefined;
  }

  token(request: HttpRequest): string | undefined {
    for (const pair of (request.headers.get('cookie') ?? '').split(/[;,]/)) {
      const [name, value] = pair.trim().split('=', 2);
      if (name === this.#cookieName && value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value)) return value;
    }
    return undefined;
  }

  /**
   * Browsers send cookies also with requests that other pages cause. SameSite=Strict excludes other sites; these fields
   * (Fetch Metadata; RFC 6454) also exclude sibling hosts. @throws GatewayError csrf_rejected
   */
  requireSameOrigin({ headers }: HttpRequest): void {
    const site = headers.get('sec-fetch-site');
    if (site !== undefined && site !== 'same-origin' && site !== 'none') {
      throw rejected('this request comes from another site (Sec-Fetch-Site)');
    }
    const origin = headers.get('origin');
    if (origin === undefined || origin === this.#publicOrigin) return;
    if (URL.canParse(origin) && new URL(origin).host === headers.get('host')) return;
    throw rejected('this request comes from another site (Origin); behind a proxy set server.publicUrl');
  }

  cookie(token: string, expiresAt: Date): string {
    const seconds = Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1000));
    return `${this.#cookieName}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${this.#isSecure ? '; Secure' : ''}`;
  }

  noCookie(): string {
    return this.cookie('', new Date(0));
  }
}

/** Derived from the session without storage: only the holder of the session's token can compute it. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

function isEqual(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function rejected(text: string): GatewayError {
  return refusal('csrf_rejected', text);
}
