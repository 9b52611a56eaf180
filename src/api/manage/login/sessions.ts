/** The login sessions of an account. */
import { count, dateTime, described, flag, listOf, object, orNull, text, textOrNull } from '../../../base/schema.js';
import type { LoginSession } from '../../../storage/storage.js';
import { successAnswer } from '../../fields.js';
import { id, ID, LATER, TIME } from '../fields.js';
import { actorOf, itemId, ownerEndpoints, unknownItem } from '../services.js';

const endpoint = ownerEndpoints('Login');

export const accountName = object('AccountName', {
  id: id(),
  email: text('E-mail address of the account.'),
  plan: text('Name of the plan.'),
});
export const loginSession = object('LoginSession', {
  id: id(),
  createdAt: dateTime('When it was made.'),
  lastSeenAt: dateTime('The last request.'),
  expiresAt: dateTime('When it ends.'),
  address: text('Where the request came from.'),
  userAgent: text('The browser.'),
  isCurrent: flag('Whether it is the session of this request.'),
});
export const CSRF_TOKEN = 'To be sent as `X-CSRF-Token` with every request but GET and HEAD.';

export const sampleLogin = {
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

export const currentSession = endpoint('GET /manage/session', {
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

export const listSessions = endpoint('GET /manage/sessions', {
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

export const revokeSession = endpoint('DELETE /manage/sessions/:id', {
  operationId: 'revokeSession',
  summary: 'End a login session',
  description: 'Whoever uses it must log in again.',
  answer: { schema: successAnswer, example: { success: true } },
  errors: ['unknown_item'],
}).handle(async (input, { storage }) => {
  const id = itemId(input, 'session');
  const { sessions, audit } = storage.management;
  if (!(await sessions.end(input.caller.accountId, id))) throw unknownItem('session', id);
  await audit.add(actorOf(input), { action: 'session.revoke', target: { kind: 'session', id, name: '' } });
  return { success: true };
});

export const revokeOtherSessions = endpoint('POST /manage/sessions/revoke-others', {
  operationId: 'revokeOtherSessions',
  summary: 'End all other sessions',
  description: 'Only the session of this request stays; with an admin key none does.',
  answer: {
    schema: object('RevokedAnswer', { revoked: count('How many sessions were ended.') }),
    example: { revoked: 2 },
  },
}).handle(async (input, { storage }) => {
  const { accountId, session } = input.caller;
  const revoked = await storage.management.sessions.endOthers(accountId, session?.id);
  await storage.management.audit.add(actorOf(input), { action: 'session.revoke_others', details: { revoked } });
  return { revoked };
});

export function sessionView(session: LoginSession, currentId: string | undefined) {
  const { id, createdAt, lastSeenAt, expiresAt, address, userAgent } = session;
  return { id, createdAt, lastSeenAt, expiresAt, address, userAgent, isCurrent: id === currentId };
}
