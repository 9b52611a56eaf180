/** Login sessions, password and one-time passwords. */
import * as schemas from '../../manage/answer-schemas.js';
import type { Description } from '../types.js';
import { answers, example, ID, LATER, TIME } from './answer.js';

const PASSWORD = 'correct horse battery staple';
const account = { id: ID, email: 'ops@example.com', plan: 'pro' };
const session = {
  id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a002',
  createdAt: TIME,
  lastSeenAt: TIME,
  expiresAt: LATER,
  address: '192.0.2.10',
  userAgent: 'Mozilla/5.0',
  isCurrent: true,
};
const csrfToken = 'rLzQ0s7Vb1w0yB6uQvTgqk2x5n3m8p1d4f7h9j2k5m8';
const recoveryCodes = ['k3v9-2mqa-77xd', 'p0sd-1kkz-94fe'];
const success = answers(schemas.successAnswer, { success: true });

export const loginOperations: Readonly<Record<string, Description>> = {
  'POST /manage/login': {
    operationId: 'login',
    tag: 'Login',
    summary: 'Log in',
    description:
      'Sets the session cookie: HttpOnly, SameSite=Strict, `__Host-ftg_session` over HTTPS. Five failures from one address lock it for 15 minutes.',
    bodyExamples: example({ email: 'ops@example.com', password: PASSWORD, code: '123456' }),
    success: answers(
      schemas.loginAnswer,
      { account, session, csrfToken },
      { description: 'Logged in.', headers: ['Set-Cookie'] },
    ),
    errors: ['bad_request', 'unauthenticated', 'totp_required', 'csrf_rejected', 'rate_limited', 'database_away'],
  },
  'POST /manage/logout': {
    operationId: 'logout',
    tag: 'Login',
    summary: 'Log out',
    description: 'Ends the session and takes its cookie back.',
    success: answers(schemas.successAnswer, { success: true }, { headers: ['Set-Cookie'] }),
  },
  'GET /manage/session': {
    operationId: 'currentSession',
    tag: 'Login',
    summary: 'Who am I?',
    description: 'The account and the session of this request. With an admin key `session` and `csrfToken` are null.',
    success: answers(schemas.currentSessionAnswer, { account, session, csrfToken }),
  },
  'GET /manage/sessions': {
    operationId: 'listSessions',
    tag: 'Login',
    summary: 'List login sessions',
    description: 'The sessions that live, newest first.',
    success: answers(schemas.sessionsAnswer, { sessions: [session] }),
  },
  'DELETE /manage/sessions/:id': {
    operationId: 'revokeSession',
    tag: 'Login',
    summary: 'End a login session',
    description: 'Whoever uses it must log in again.',
    success,
    errors: ['unknown_item'],
  },
  'POST /manage/sessions/revoke-others': {
    operationId: 'revokeOtherSessions',
    tag: 'Login',
    summary: 'End all other sessions',
    description: 'Only the session of this request stays; with an admin key none does.',
    success: answers(schemas.revokedAnswer, { revoked: 2 }),
  },
  'POST /manage/password': {
    operationId: 'changePassword',
    tag: 'Login',
    summary: 'Change the password',
    description: 'Ends all other sessions. A wrong `currentPassword` is 403 `forbidden` and counts as a failed login.',
    bodyExamples: example({ currentPassword: PASSWORD, newPassword: 'another horse, another staple' }),
    success: answers(schemas.passwordAnswer, { success: true, revokedSessions: 1 }),
  },
  'POST /manage/totp/enrol': {
    operationId: 'enrolTotp',
    tag: 'Login',
    summary: 'Begin with one-time passwords',
    description: '`uri` is what a QR code for an authenticator holds. Nothing is switched on yet.',
    bodyExamples: example({ password: PASSWORD }),
    success: answers(schemas.totpAnswer, {
      secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      uri: 'otpauth://totp/File%20Transfer%20Gateway:ops%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    }),
    errors: ['in_use'],
  },
  'POST /manage/totp/confirm': {
    operationId: 'confirmTotp',
    tag: 'Login',
    summary: 'Switch one-time passwords on',
    description: 'From now on every login asks for a code. The recovery codes are shown this once.',
    bodyExamples: example({ code: '123456' }),
    success: answers(schemas.recoveryCodesAnswer, { recoveryCodes }),
    errors: ['in_use'],
  },
  'POST /manage/totp/recovery-codes': {
    operationId: 'renewRecoveryCodes',
    tag: 'Login',
    summary: 'Make new recovery codes',
    description: 'The former ones are void.',
    bodyExamples: example({ password: PASSWORD }),
    success: answers(schemas.recoveryCodesAnswer, { recoveryCodes }),
    errors: ['not_running'],
  },
  'POST /manage/totp/disable': {
    operationId: 'disableTotp',
    tag: 'Login',
    summary: 'Switch one-time passwords off',
    description: 'The password alone is enough from now on.',
    bodyExamples: example({ password: PASSWORD }),
    success,
  },
};
