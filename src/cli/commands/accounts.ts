/** `ftg accounts`: the account of the key or the login. */
import { readFileSync } from 'node:fs';
import { type Arguments, type Session, shows } from '../command.js';
import { brandFields } from '../../contract/brand.js';
import { auditListFilters } from '../../contract/filters.js';
import { UsageError } from '../exit-codes.js';
import { givenFieldsOf } from '../field-options.js';
import type { Schemas } from '../gateway.js';
import { bytesText, fields, listed, timeText } from '../output.js';
import { ask, readSecret } from '../secrets.js';

/** Any key may read its account; an owner gets more fields. */
export const showAccount = shows(({ gateway, signal }) => gateway.files.me({ signal }), fields);

export const showUsage = shows(
  ({ gateway }) => gateway.manage.get<Schemas['Usage']>('usage'),
  ({ plan, month, used, limit, forecast, runsOutAt, connections }) => {
    const of = (most: number): string => (most === 0 ? '' : ` of ${most}`);
    return fields({
      plan,
      month,
      used: `${used}${of(limit)}`,
      forecast,
      'runs out': timeText(runsOutAt),
      connections: `${connections.used}${of(connections.limit)}`,
    });
  },
);

export const showOverview = shows(
  ({ gateway }) => gateway.manage.get<Schemas['Overview']>('overview'),
  ({ today, attention }) => {
    const columns = { 'NEEDS A PERSON': 'kind', '': 'text' } as const;
    return `${fields(today)}\n\n${listed(attention, columns, 'nothing needs a person')}`;
  },
);

const BRAND = 'account/brand';

export const showBrand = shows(({ gateway }) => gateway.manage.get<Schemas['Brand']>(BRAND), brandText);

/** What is not given stays; an empty text removes it. */
export const setBrand = shows(({ gateway }, _, options: { readonly logo?: string }) => {
  const { logo } = options;
  const image = logo === undefined || logo === '' ? logo : readFileSync(logo).toString('base64');
  const given = { ...givenFieldsOf(brandFields, options), ...(image === undefined ? {} : { logo: image }) };
  const changes = Object.entries(given).map(([field, value]) => [field, value === '' ? null : value] as const);
  if (changes.length === 0) throw new UsageError('nothing to change: give --name, --color or --logo');
  return gateway.manage.patch<Schemas['Brand']>(BRAND, Object.fromEntries(changes));
}, brandText);

function brandText({ name, color, logo }: Schemas['Brand']): string {
  return fields({ name, color, logo: logo && bytesText(Buffer.byteLength(logo, 'base64')) });
}

export const listAudit = shows(
  ({ gateway }, _, options: object) =>
    gateway.manage.get<Schemas['AuditAnswer']>('audit', givenFieldsOf(auditListFilters, options)),
  ({ entries }) =>
    listed(entries, {
      AT: ({ at }) => timeText(at),
      WHO: ({ actor }) => actor.name,
      DID: 'action',
      TO: ({ target }) => target && `${target.kind} ${target.name === '' ? target.id : target.name}`,
      FROM: 'address',
    }),
);

export const listSessions = shows(
  ({ gateway }) => gateway.manage.get<Schemas['SessionsAnswer']>('sessions'),
  ({ sessions }) =>
    listed(
      sessions,
      {
        ID: 'id',
        'LAST SEEN': 'lastSeenAt',
        ENDS: 'expiresAt',
        FROM: 'address',
        WITH: ({ userAgent, isCurrent }) => `${userAgent}${isCurrent ? ' (this one)' : ''}`,
      },
      'no one is logged in',
    ),
);

export const revokeSession = shows(
  ({ gateway }, [id = '']) => gateway.manage.delete(`sessions/${encodeURIComponent(id)}`),
  (_, id) => `session ${id} has ended`,
);

export async function changePassword(
  { gateway, out, signal }: Session,
  _: Arguments,
  { currentFile, newFile }: { readonly currentFile?: string; readonly newFile?: string },
): Promise<void> {
  if (currentFile === '-' && newFile === '-') throw new UsageError('only one of both can come from standard input');
  const secret = (file: string | undefined, question: string): Promise<string> =>
    file === undefined ? ask(question, { isHidden: true, signal }) : readSecret(file);
  const currentPassword = await secret(currentFile, 'Password until now');
  const newPassword = await secret(newFile, 'New password');
  const json = { currentPassword, newPassword };
  const answer = await gateway.manage.post<Schemas['PasswordAnswer']>('password', json);
  out.show(answer, () => `the password is changed; ${answer.revokedSessions} other sessions have ended`);
}
