/** The password of an account. */
import type { TString } from 'typebox';
import { count, object, success, text } from '../../../base/schema.js';
import type { RequestContext } from '../../../http/types.js';
import { CLOSED } from '../fields.js';
import { actorOf, type ManageServices, ownerEndpoints, refusal } from '../services.js';

const endpoint = ownerEndpoints('Login');

export const PASSWORD = 'correct horse battery staple';

export const password = (description = 'The password of the account.'): TString =>
  text(description, { minLength: 1, maxLength: 200 });

export const changePassword = endpoint('POST /manage/password', {
  operationId: 'changePassword',
  summary: 'Change the password',
  description: 'Ends all other sessions. A wrong `currentPassword` is 403 `forbidden` and counts as a failed login.',
  body: object(
    'ChangePasswordRequest',
    {
      currentPassword: password('The password until now.'),
      newPassword: text('12 to 200 characters.', { minLength: 12, maxLength: 200 }),
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
  const { credentials, sessions } = services.storage.management;
  await credentials.setPassword(actorOf(input), newPassword);
  const { accountId, session } = input.caller;
  return { success: true, revokedSessions: await sessions.endOthers(accountId, session?.id) };
});

/** A stolen session or admin key must not be enough to take an account over. @throws GatewayError forbidden */
export async function requirePassword(
  services: ManageServices,
  { caller, request }: Pick<RequestContext, 'caller' | 'request'>,
  password: string,
  field = 'password',
): Promise<void> {
  const attempt = await services.guard.begin(caller.email, request.remoteAddress, caller.accountId);
  if (!(await services.storage.management.credentials.verifyPassword(caller.accountId, password))) {
    throw refusal('forbidden', `${field} is wrong`);
  }
  await attempt.succeeded();
}
