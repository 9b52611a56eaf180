/** The credentials of an owner: password and one-time passwords. */
import { Secret, TOTP } from 'otpauth';
import type { TString } from 'typebox';
import { refusal } from '../../base/errors.js';
import { NEW_PASSWORD } from '../../contract/login.js';
import { count, object, success, text, texts } from '../../contract/schema.js';
import type { RequestContext } from '../../http/types.js';
import { successAnswer } from '../fields.js';
import { CLOSED } from '../fields.js';
import { actorOf, type Services } from '../services.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Login');
export const credentialEndpoints = endpoint.all;

export const PASSWORD = 'correct horse battery staple';

export const accountPassword = (description = 'The password of the account.'): TString =>
  text(description, { minLength: 1, maxLength: NEW_PASSWORD.maxLength });

endpoint('POST /manage/password', {
  operationId: 'changePassword',
  summary: 'Change the password',
  description: 'Ends all other sessions. A wrong `currentPassword` is 403 `forbidden` and counts as a failed login.',
  body: object(
    'ChangePasswordRequest',
    {
      currentPassword: accountPassword('The password until now.'),
      newPassword: text(`${NEW_PASSWORD.minLength} to ${NEW_PASSWORD.maxLength} characters.`, NEW_PASSWORD),
    },
    CLOSED,
  ),
  bodyExamples: { body: { currentPassword: PASSWORD, newPassword: 'another horse, another staple' } },
  answer: {
    schema: object('PasswordAnswer', { success: success(), revokedSessions: count('How many sessions were ended.') }),
    example: { success: true, revokedSessions: 1 },
  },
}).handle(async (input, services) => {
  const { currentPassword, newPassword } = input.body;
  await requirePassword(services, input, currentPassword, 'currentPassword');
  const { accounts, management } = services.storage;
  await accounts.setPassword(actorOf(input), newPassword);
  const { accountId, session } = input.caller;
  return {
    success: true,
    revokedSessions: await management.sessions.endOthers(accountId, session?.id, 'password_changed'),
  };
});

/** A stolen session or admin key must not be enough to take over an account. @throws GatewayError forbidden */
async function requirePassword(
  services: Services,
  { caller, request }: Pick<RequestContext, 'caller' | 'request'>,
  password: string,
  field = 'password',
): Promise<void> {
  const attempt = await services.guard.begin(caller.email, request.remoteAddress, caller.accountId);
  if (!(await services.storage.accounts.verifyPassword(caller.accountId, password))) {
    throw refusal('forbidden', `${field} is wrong`);
  }
  await attempt.succeeded();
}

const ISSUER = 'File Transfer Gateway';
const STEP_SECONDS = 30;
/** Bytes, as RFC 4226, 4 requires for SHA-1. */
const SECRET_BYTES = 20;

export const code = (): TString =>
  text('Six digits of the authenticator, or a recovery code.', { minLength: 6, maxLength: 40 });
const passwordRequest = object('PasswordRequest', { password: accountPassword() }, CLOSED);
const recoveryCodesAnswer = object('RecoveryCodesAnswer', {
  recoveryCodes: texts('Each replaces a code once; shown only once.'),
});
const sampleCodes = { recoveryCodes: ['k3v9-2mqa-77xd', 'p0sd-1kkz-94fe'] };

endpoint('POST /manage/totp/enrol', {
  operationId: 'enrolTotp',
  summary: 'Begin with one-time passwords',
  description: '`uri` is what a QR code for an authenticator holds. Nothing is switched on yet.',
  body: passwordRequest,
  bodyExamples: { body: { password: PASSWORD } },
  answer: {
    schema: object('TotpAnswer', { secret: text('The secret.'), uri: text('`otpauth://`, for a QR code.') }),
    example: {
      secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      uri: 'otpauth://totp/File%20Transfer%20Gateway:ops%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    },
  },
  errors: ['in_use'],
}).handle(async (input, services) => {
  await requirePassword(services, input, input.body.password);
  const { accounts } = services.storage;
  const owner = await accounts.find(input.caller.accountId);
  if (owner?.isTotpEnabled === true) {
    throw refusal('in_use', 'one-time passwords are switched on already; switch them off first');
  }
  const totp = totpOf(new Secret({ size: SECRET_BYTES }), input.caller.email);
  await accounts.beginTotp(actorOf(input), totp.secret.base32);
  return { secret: totp.secret.base32, uri: totp.toString() };
});

endpoint('POST /manage/totp/confirm', {
  operationId: 'confirmTotp',
  summary: 'Switch one-time passwords on',
  description: 'From now on every login asks for a code. The recovery codes are shown only once.',
  body: object('CodeRequest', { code: code() }, CLOSED),
  bodyExamples: { body: { code: '123456' } },
  answer: { schema: recoveryCodesAnswer, example: sampleCodes },
  errors: ['in_use'],
}).handle(async (input, services) => {
  const { accountId, email } = input.caller;
  const { accounts } = services.storage;
  if ((await accounts.find(accountId))?.isTotpEnabled === true) {
    throw refusal('in_use', 'one-time passwords are switched on already');
  }
  const attempt = await services.guard.begin(email, input.request.remoteAddress, accountId);
  if (!(await isTimelyCode(services, accountId, input.body.code))) {
    throw refusal('bad_request', 'code: not the one that the authenticator shows now for the secret of enrol');
  }
  await attempt.succeeded();
  return { recoveryCodes: await accounts.confirmTotp(actorOf(input)) };
});

endpoint('POST /manage/totp/recovery-codes', {
  operationId: 'renewRecoveryCodes',
  summary: 'Make new recovery codes',
  description: 'The former ones are void.',
  body: passwordRequest,
  bodyExamples: { body: { password: PASSWORD } },
  answer: { schema: recoveryCodesAnswer, example: sampleCodes },
  errors: ['not_running'],
}).handle(async (input, services) => {
  await requirePassword(services, input, input.body.password);
  const { accounts } = services.storage;
  if ((await accounts.find(input.caller.accountId))?.isTotpEnabled !== true) {
    throw refusal('not_running', 'one-time passwords are not switched on');
  }
  return { recoveryCodes: await accounts.renewRecoveryCodes(actorOf(input)) };
});

endpoint('POST /manage/totp/disable', {
  operationId: 'disableTotp',
  summary: 'Switch one-time passwords off',
  description: 'The password alone is enough from now on.',
  body: passwordRequest,
  bodyExamples: { body: { password: PASSWORD } },
  answer: { schema: successAnswer, example: { success: true } },
}).handle(async (input, services) => {
  await requirePassword(services, input, input.body.password);
  await services.storage.accounts.disableTotp(actorOf(input));
  return { success: true };
});

export async function isRightCode(services: Services, accountId: string, code: string): Promise<boolean> {
  return /^\d{6}$/.test(code)
    ? isTimelyCode(services, accountId, code)
    : services.storage.accounts.takeRecoveryCode(accountId, code);
}

/** One step before or after is accepted because clocks differ; each step once (RFC 6238, 5.2). */
async function isTimelyCode({ storage }: Services, accountId: string, code: string): Promise<boolean> {
  const { accounts } = storage;
  const secret = await accounts.totpSecret(accountId);
  if (secret === undefined) return false;
  const now = Date.now();
  const delta = totpOf(Secret.fromBase32(secret), '').validate({ token: code, timestamp: now, window: 1 });
  if (delta === null) return false;
  return accounts.takeTotpStep(accountId, Math.floor(now / 1000 / STEP_SECONDS) + delta);
}

function totpOf(secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: ISSUER, label, secret, algorithm: 'SHA1', digits: 6, period: STEP_SECONDS });
}
