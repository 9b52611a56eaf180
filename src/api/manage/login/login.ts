/** Login and logout. */
import { Type } from 'typebox';
import { described, object, text } from '../../../base/schema.js';
import { json } from '../../../http/answer.js';
import { jsonContent } from '../../endpoint.js';
import { successAnswer } from '../../fields.js';
import type { Actor } from '../../../storage/storage.js';
import { CLOSED } from '../fields.js';
import { actorOf, ownerEndpoints, refusal } from '../services.js';
import { csrfTokenOf } from './owner-sessions.js';
import { password, PASSWORD } from './password.js';
import { accountName, CSRF_TOKEN, loginSession, sampleLogin, sessionView } from './sessions.js';
import { code, isRightCode } from './totp.js';

const endpoint = ownerEndpoints('Login');

export const login = endpoint('POST /manage/login', {
  access: 'public',
  operationId: 'login',
  summary: 'Log in',
  description:
    'Sets the session cookie: HttpOnly, SameSite=Strict, `__Host-ftg_session` over HTTPS. Five failures from one address lock it for 15 minutes.',
  body: object(
    'LoginRequest',
    {
      email: text('E-mail address of the account.', { minLength: 1, maxLength: 320 }),
      password: password('The password of the account.'),
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
    throw refusal('unauthenticated', 'e-mail address or password is wrong');
  }
  if (owner.isTotpEnabled) {
    if (code === undefined) {
      await attempt.undecided();
      throw refusal('totp_required', 'code: the six digits of the authenticator, or a recovery code');
    }
    if (!(await isRightCode(services, owner.accountId, code))) {
      await note('login.failed', { reason: 'code' });
      throw refusal('totp_required', 'code: wrong, used before or out of time');
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
});

export const logout = endpoint('POST /manage/logout', {
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
    await storage.management.sessions.end(accountId, session.id);
    await storage.management.audit.add(actorOf(input), { action: 'login.ended' });
  }
  return json(200, { success: true }, { 'Set-Cookie': owners.noCookie() });
});
