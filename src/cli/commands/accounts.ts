/** `ftg accounts`: the account of the key or the login. */
import type { Arguments, Session } from '../command.js';
import { UsageError } from '../exit-codes.js';
import type { Schemas } from '../gateway.js';
import { fields, table, timeText } from '../output.js';
import { ask, readSecret } from '../secrets.js';

/** Any key may ask who it is; the owner is shown more. */
export async function showAccount({ gateway, out, signal }: Session): Promise<void> {
  const account = await gateway.files.me({ signal });
  out.show(account, () => fields(account));
}

export async function showUsage({ gateway, out }: Session): Promise<void> {
  const usage = await gateway.manage.get<Schemas['Usage']>('usage');
  out.show(usage, () => {
    const { plan, month, used, limit, forecast, runsOutAt, connections } = usage;
    const of = (most: number): string => (most === 0 ? '' : ` of ${most}`);
    return fields({
      plan,
      month,
      used: `${used}${of(limit)}`,
      forecast,
      'runs out': timeText(runsOutAt),
      connections: `${connections.used}${of(connections.limit)}`,
    });
  });
}

export async function showOverview({ gateway, out }: Session): Promise<void> {
  const overview = await gateway.manage.get<Schemas['Overview']>('overview');
  out.show(overview, () => {
    const attention = overview.attention.map(({ kind, text }) => [kind, text]);
    return `${fields(overview.today)}\n\n${table(['NEEDS A PERSON', ''], attention, 'nothing needs a person')}`;
  });
}

export async function listAudit(
  { gateway, out }: Session,
  _: Arguments,
  { limit, action }: { readonly limit?: number; readonly action?: string },
): Promise<void> {
  const answer = await gateway.manage.get<Schemas['AuditAnswer']>('audit', { limit, action });
  out.show(answer, () => {
    const rows = answer.entries.map(({ at, actor, action: done, target, address }) => [
      timeText(at),
      actor.name,
      done,
      target === null ? '-' : `${target.kind} ${target.name === '' ? target.id : target.name}`,
      address,
    ]);
    return table(['AT', 'WHO', 'DID', 'TO', 'FROM'], rows);
  });
}

export async function listSessions({ gateway, out }: Session): Promise<void> {
  const answer = await gateway.manage.get<Schemas['SessionsAnswer']>('sessions');
  out.show(answer, () => {
    const rows = answer.sessions.map(({ id, lastSeenAt, expiresAt, address, userAgent, isCurrent }) => [
      id,
      timeText(lastSeenAt),
      timeText(expiresAt),
      address,
      `${userAgent}${isCurrent ? ' (this one)' : ''}`,
    ]);
    return table(['ID', 'LAST SEEN', 'ENDS', 'FROM', 'WITH'], rows, 'nobody is logged in');
  });
}

export async function revokeSession({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.delete(`sessions/${encodeURIComponent(id)}`);
  out.show(answer, () => `session ${id} has ended`);
}

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
