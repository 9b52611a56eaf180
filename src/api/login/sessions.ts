/** Login, logout and the sessions in between. */
import { Type } from 'typebox';
import { refusal, unknown } from '../../base/errors.js';
import type { AuditAction } from '../../contract/audit.js';
import { count, dateTime, described, flag, listOf, object, orNull, text, textOrNull } from '../../contract/schema.js';
import { json } from '../../http/answer.js';
import type { Actor, LoginSession } from '../../storage/storage.js';
import { jsonContent, endpoints } from '../endpoint.js';
import { successAnswer } from '../fields.js';
import { CLOSED, id } from '../fields.js';
import { ID, LATER, TIME } from '../../contract/examples.js';
import { actorOf, itemId } from '../services.js';
import { code, isRightCode, accountPassword, PASSWORD } from './credentials.js';
import { csrfTokenOf } from './owner-sessions.js';

const endpoint = endpoints('Login');
export const sessionEndpoints = endpoint.all;

const accountName = object('AccountName', {
  id: id(),
  email: text('E-mail address of the account.'),
  plan: text('Name of the plan.'),
});
const loginSession = object('LoginSession', {
  id: id(),
  createdAt: dateTime('When it was made.'),
  lastSeenAt: dateTime('The last request.'),
  expiresAt: dateTime('When it ends.'),
  address: text('Where the request came from.'),
  userAgent: text('The browser.'),
  isCurrent: flag('Whether it is the session of this request.'),
});
const CSRF_TOKEN = 'To be sent as `X-CSRF-Token` with every request but GET and HEAD.';

const sampleLogin = {
  account: { id: ID, email: 'ops@example.com', plan: 'pro' },
  session: {
    id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a002',
    createdAt: TIME,
    lastSeenAt: TIME,
    expiresAt: LATER,
    address: '192.0.2.10',
    userAgent: 'Mozilla/5.0',
    isCurrent: true,
  },
  csrfToken: 'rLzQ0s7Vb1w0yB6uQvTgqk2x5n3m8p1d4f7h9j2k5m8',
};

endpoint('GET /manage/session', {
  operationId: 'currentSession',
  summary: 'Who am I?',
  description: 'The account and the session of this request. With an admin key `session` and `csrfToken` are null.',
  answer: {
    schema: object('CurrentSession', {
      account: described(accountName, 'The account.'),
      session: orNull(loginSession, 'The session of this request; null with an admin key.'),
      csrfToken: textOrNull(CSRF_TOKEN),
    }),
    example: sampleLogin,
  },
}).handle(async ({ caller: { accountId, email, plan, session } }, { storage }) => {
  const all = session === undefined ? [] : await storage.management.sessions.list(accountId);
  const own = all.find((one) => one.id === session?.id);
  return {
    account: { id: accountId, email, plan },
    session: own === undefined ? null : sessionView(own, own.id),
    csrfToken: session?.csrfToken ?? null,
  };
});

endpoint('GET /manage/sessions', {
  operationId: 'listSessions',
  summary: 'List login sessions',
  description: 'The sessions that live, newest first.',
  answer: {
    schema: object('SessionsAnswer', { sessions: listOf(loginSession, 'Newest first.') }),
    example: { sessions: [sampleLogin.session] },
  },
}).handle(async ({ caller }, { storage }) => {
  const sessions = await storage.management.sessions.list(caller.accountId);
  return { sessions: sessions.map((session) => sessionView(session, caller.session?.id)) };
});

endpoint('DELETE /manage/sessions/:id', {
  operationId: 'revokeSession',
  summary: 'End a login session',
  description: 'Its user must log in again.',
  answer: { schema: successAnswer, example: { success: true } },
  errors: ['unknown_item'],
}).handle(async (input, { storage }) => {
  const id = itemId(input, 'session');
  const { sessions, audit } = storage.management;
  if (!(await sessions.end(input.caller.accountId, id, 'elsewhere'))) throw unknown('session', id);
  await audit.add(actorOf(input), { action: 'session.revoke', target: { kind: 'session', id, name: '' } });
  return { success: true };
});

endpoint('POST /manage/sessions/revoke-others', {
  operationId: 'revokeOtherSessions',
  summary: 'End all other sessions',
  description: 'Only the session of this request stays; with an admin key none does.',
  answer: {
    schema: object('RevokedAnswer', { revoked: count('How many sessions were ended.') }),
    example: { revoked: 2 },
  },
}).handle(async (input, { storage }) => {
  const { accountId, session } = input.caller;
  const revoked = await storage.management.sessions.endOthers(accountId, session?.id, 'elsewhere');
  await storage.management.audit.add(actorOf(input), { action: 'session.revoke_others', details: { revoked } });
  return { revoked };
});

function sessionView(session: LoginSession, currentId: string | undefined) {
  const { id, createdAt, lastSeenAt, expiresAt, address, userAgent } = session;
  return { id, createdAt, lastSeenAt, expiresAt, address, userAgent, isCurrent: id === currentId };
}

endpoint('POST /manage/login', {
  access: 'public',
  operationId: 'login',
  summary: 'Log in',
  description:
    'Sets the session cookie: HttpOnly, SameSite=Strict, `__Host-ftg_session` over HTTPS. Five failures from one address lock it for 15 minutes.',
  body: object(
    'LoginRequest',
    {
      email: text('E-mail address of the account.', { minLength: 1, maxLength: 320 }),
      password: accountPassword('The password of the account.'),
      code: Type.Optional(code()),
    },
    CLOSED,
  ),
  bodyExamples: { body: { email: 'ops@example.com', password: PASSWORD, code: '123456' } },
  answers: {
    200: {
      description: 'Logged in.',
      headers: ['Set-Cookie'],
      content: jsonContent(
        object('LoginAnswer', {
          account: described(accountName, 'The account.'),
          session: described(loginSession, 'The session that has begun.'),
          csrfToken: text(CSRF_TOKEN),
        }),
        { answer: sampleLogin },
      ),
    },
  },
  errors: ['bad_request', 'unauthenticated', 'totp_required', 'csrf_rejected', 'rate_limited', 'database_away'],
}).handle(async ({ request, requestId, body: { email, password, code } }, services) => {
  services.owners.requireSameOrigin(request);
  const { accounts, management } = services.storage;
  const { sessions, audit } = management;
  const owner = await accounts.findByEmail(email);
  const attempt = await services.guard.begin(email, request.remoteAddress, owner?.id);
  const note = async (action: AuditAction, details = {}): Promise<void> => {
    if (owner === undefined) return;
    const { id: accountId, email: name } = owner;
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
  if (!(await accounts.verifyPassword(owner?.id, password)) || owner === undefined) {
    await note('login.failed', { reason: 'password' });
    throw refusal('unauthenticated', 'e-mail address or password is wrong');
  }
  if (owner.isTotpEnabled) {
    if (code === undefined) {
      await attempt.undecided();
      throw refusal('totp_required', 'code: the six digits of the authenticator, or a recovery code');
    }
    if (!(await isRightCode(services, owner.id, code))) {
      await note('login.failed', { reason: 'code' });
      throw refusal('totp_required', 'code: wrong, used before or out of time');
    }
  }
  await attempt.succeeded();
  // A session that was in the browser before the login is not continued (session fixation).
  const former = services.owners.token(request);
  const formerSession = former === undefined ? undefined : await sessions.find(former, false);
  if (formerSession !== undefined) await sessions.end(formerSession.accountId, formerSession.id, 'logged_out');
  const { token, session } = await sessions.create(owner.id, {
    address: request.remoteAddress,
    userAgent: request.headers.get('user-agent') ?? '',
  });
  await note('login.succeeded', { sessionId: session.id });
  const body = {
    account: { id: owner.id, email: owner.email, plan: owner.plan },
    session: sessionView(session, session.id),
    csrfToken: csrfTokenOf(token),
  };
  return json(200, body, { 'Set-Cookie': services.owners.cookie(token, session.expiresAt) });
});

endpoint('POST /manage/logout', {
  operationId: 'logout',
  summary: 'Log out',
  description: 'Ends the session and takes its cookie back.',
  answers: {
    200: {
      description: 'Done.',
      headers: ['Set-Cookie'],
      content: jsonContent(successAnswer, { answer: { success: true } }),
    },
  },
}).handle(async (input, { storage, owners }) => {
  const { accountId, session } = input.caller;
  if (session !== undefined) {
    await storage.management.sessions.end(accountId, session.id, 'logged_out');
    await storage.management.audit.add(actorOf(input), { action: 'login.ended' });
  }
  return json(200, { success: true }, { 'Set-Cookie': owners.noCookie() });
});
