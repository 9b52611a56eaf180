/** Login, logout, password, one-time passwords. */
import { Secret, TOTP } from 'otpauth';
import { GatewayError } from '../../base/errors.js';
import { json } from '../../http/answer.js';
import type { HttpAnswer, RequestContext } from '../../http/types.js';
import type { Actor } from '../../storage/tables/audit-log.js';
import type { LoginSession } from '../../storage/tables/login-sessions.js';
import { csrfTokenOf } from './owner-sessions.js';
import { actorOf, itemId, type ManageServices, unknownItem } from './services.js';

const ISSUER = 'File Transfer Gateway';
const STEP_SECONDS = 30;
/** Bytes: what RFC 4226, 4 asks for with SHA-1. */
const SECRET_BYTES = 20;

export async function login(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { request, requestId } = context;
  const { email, password, code } = context.json as { email: string; password: string; code?: string };
  services.owners.requireSameOrigin(request);
  const { credentials, sessions, audit } = services.storage.management;
  const owner = await credentials.findByEmail(email);
  const attempt = await services.guard.begin(email, request.remoteAddress, owner?.accountId);
  const note = async (action: string, details = {}): Promise<void> => {
    if (owner === undefined) return;
    const { accountId, email: name } = owner;
    const actor: Actor = {
      accountId,
      kind: 'anonymous',
      id: null,
      email: name,
      address: request.remoteAddress,
      requestId,
    };
    await audit.add(actor, { action, details });
  };
  if (!(await credentials.verifyPassword(owner?.accountId, password)) || owner === undefined) {
    await note('login.failed', { reason: 'password' });
    throw new GatewayError('unauthenticated', 'e-mail address or password is wrong', { step: 'request' });
  }
  if (owner.isTotpEnabled) {
    if (code === undefined) {
      await attempt.undecided();
      throw new GatewayError('totp_required', 'code: the six digits of the authenticator, or a recovery code', {
        step: 'request',
      });
    }
    if (!(await isRightCode(services, owner.accountId, code))) {
      await note('login.failed', { reason: 'code' });
      throw new GatewayError('totp_required', 'code: wrong, used before or out of time', { step: 'request' });
    }
  }
  await attempt.succeeded();
  // What stood in the browser before the login is no part of it (session fixation).
  const former = services.owners.token(request);
  const formerSession = former === undefined ? undefined : await sessions.find(former, false);
  if (formerSession !== undefined) await sessions.end(formerSession.accountId, formerSession.id);
  const { token, session } = await sessions.create(owner.accountId, {
    address: request.remoteAddress,
    userAgent: request.headers.get('user-agent') ?? '',
  });
  await note('login.succeeded', { sessionId: session.id });
  const body = {
    account: { id: owner.accountId, email: owner.email, plan: owner.plan },
    session: sessionView(session, session.id),
    csrfToken: csrfTokenOf(token),
  };
  return json(200, body, { 'Set-Cookie': services.owners.cookie(token, session.expiresAt) });
}

export async function logout(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { accountId, session } = context.caller;
  if (session !== undefined) {
    await services.storage.management.sessions.end(accountId, session.id);
    await services.storage.management.audit.add(actorOf(context), { action: 'login.ended' });
  }
  return json(200, { success: true }, { 'Set-Cookie': services.owners.noCookie() });
}

export async function currentSession(services: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  const { accountId, email, plan, session } = caller;
  const all = session === undefined ? [] : await services.storage.management.sessions.list(accountId);
  const own = all.find(({ id }) => id === session?.id);
  return json(200, {
    account: { id: accountId, email, plan },
    session: own === undefined ? null : sessionView(own, own.id),
    csrfToken: session?.csrfToken ?? null,
  });
}

export async function listSessions({ storage }: ManageServices, { caller }: RequestContext): Promise<HttpAnswer> {
  const sessions = await storage.management.sessions.list(caller.accountId);
  return json(200, { sessions: sessions.map((session) => sessionView(session, caller.session?.id)) });
}

export async function revokeSession({ storage }: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const id = itemId(context, 'session');
  const { sessions, audit } = storage.management;
  if (!(await sessions.end(context.caller.accountId, id))) throw unknownItem('session', id);
  await audit.add(actorOf(context), { action: 'session.revoke', target: { kind: 'session', id, name: '' } });
  return json(200, { success: true });
}

export async function revokeOtherSessions({ storage }: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { accountId, session } = context.caller;
  const revoked = await storage.management.sessions.endOthers(accountId, session?.id);
  await storage.management.audit.add(actorOf(context), { action: 'session.revoke_others', details: { revoked } });
  return json(200, { revoked });
}

export async function changePassword(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { currentPassword, newPassword } = context.json as { currentPassword: string; newPassword: string };
  await requirePassword(services, context, currentPassword, 'currentPassword');
  const { credentials, sessions } = services.storage.management;
  await credentials.setPassword(actorOf(context), newPassword);
  const { accountId, session } = context.caller;
  return json(200, { success: true, revokedSessions: await sessions.endOthers(accountId, session?.id) });
}

export async function enrolTotp(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  await requirePassword(services, context, passwordOf(context));
  const { credentials } = services.storage.management;
  const owner = await credentials.find(context.caller.accountId);
  if (owner?.isTotpEnabled === true) {
    throw new GatewayError('in_use', 'one-time passwords are switched on already; switch them off first', {
      step: 'request',
    });
  }
  const totp = totpOf(new Secret({ size: SECRET_BYTES }), context.caller.email);
  await credentials.beginTotp(actorOf(context), totp.secret.base32);
  return json(200, { secret: totp.secret.base32, uri: totp.toString() });
}

export async function confirmTotp(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  const { code } = context.json as { code: string };
  const { accountId, email } = context.caller;
  const { credentials } = services.storage.management;
  if ((await credentials.find(accountId))?.isTotpEnabled === true) {
    throw new GatewayError('in_use', 'one-time passwords are switched on already', { step: 'request' });
  }
  const attempt = await services.guard.begin(email, context.request.remoteAddress, accountId);
  if (!(await isTimelyCode(services, accountId, code))) {
    throw new GatewayError(
      'bad_request',
      'code: not the one that the authenticator shows now for the secret of enrol',
      {
        step: 'request',
      },
    );
  }
  await attempt.succeeded();
  return json(200, { recoveryCodes: await credentials.confirmTotp(actorOf(context)) });
}

export async function renewRecoveryCodes(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  await requirePassword(services, context, passwordOf(context));
  const { credentials } = services.storage.management;
  if ((await credentials.find(context.caller.accountId))?.isTotpEnabled !== true) {
    throw new GatewayError('not_running', 'one-time passwords are not switched on', { step: 'request' });
  }
  return json(200, { recoveryCodes: await credentials.renewRecoveryCodes(actorOf(context)) });
}

export async function disableTotp(services: ManageServices, context: RequestContext): Promise<HttpAnswer> {
  await requirePassword(services, context, passwordOf(context));
  await services.storage.management.credentials.disableTotp(actorOf(context));
  return json(200, { success: true });
}

function passwordOf({ json: body }: RequestContext): string {
  return (body as { password: string }).password;
}

/** A stolen session or admin key must not be enough to take an account over. @throws GatewayError forbidden */
async function requirePassword(
  services: ManageServices,
  { caller, request }: RequestContext,
  password: string,
  field = 'password',
): Promise<void> {
  const attempt = await services.guard.begin(caller.email, request.remoteAddress, caller.accountId);
  if (!(await services.storage.management.credentials.verifyPassword(caller.accountId, password))) {
    throw new GatewayError('forbidden', `${field} is wrong`, { step: 'request' });
  }
  await attempt.succeeded();
}

async function isRightCode(services: ManageServices, accountId: string, code: string): Promise<boolean> {
  return /^\d{6}$/.test(code)
    ? isTimelyCode(services, accountId, code)
    : services.storage.management.credentials.takeRecoveryCode(accountId, code);
}

/** One step to either side is taken for clocks that differ; each step once (RFC 6238, 5.2). */
async function isTimelyCode({ storage }: ManageServices, accountId: string, code: string): Promise<boolean> {
  const { credentials } = storage.management;
  const secret = await credentials.totpSecret(accountId);
  if (secret === undefined) return false;
  const now = Date.now();
  const delta = totpOf(Secret.fromBase32(secret), '').validate({ token: code, timestamp: now, window: 1 });
  if (delta === null) return false;
  return credentials.takeTotpStep(accountId, Math.floor(now / 1000 / STEP_SECONDS) + delta);
}

function totpOf(secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: ISSUER, label, secret, algorithm: 'SHA1', digits: 6, period: STEP_SECONDS });
}

function sessionView(session: LoginSession, currentId: string | undefined): object {
  const { id, createdAt, lastSeenAt, expiresAt, address, userAgent } = session;
  return { id, createdAt, lastSeenAt, expiresAt, address, userAgent, isCurrent: id === currentId };
}
