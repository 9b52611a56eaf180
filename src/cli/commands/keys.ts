/** `ftg keys`: API keys of the account. */
import type { Arguments, Session } from '../command.js';
import type { Schemas } from '../gateway.js';
import { fields, table, timeText } from '../output.js';

type ApiKey = Schemas['ApiKey'];

interface KeyOptions {
  readonly name?: string;
  readonly scope?: readonly string[];
  readonly connection?: readonly string[];
  readonly ip?: readonly string[];
  readonly expires?: string;
}

export async function listKeys({ gateway, out }: Session): Promise<void> {
  const answer = await gateway.manage.get<Schemas['ApiKeysAnswer']>('api-keys');
  out.show(answer, () => {
    const rows = answer.apiKeys.map((key) => [
      key.id,
      key.name,
      key.state,
      key.scopes.join(','),
      all(key.connections),
      timeText(key.expiresAt),
      timeText(key.lastUsedAt),
      key.source,
    ]);
    return table(['ID', 'NAME', 'STATE', 'SCOPES', 'CONNECTIONS', 'EXPIRES', 'LAST USED', 'FROM'], rows, 'no keys');
  });
}

export async function createKey({ gateway, out }: Session, [name = '']: Arguments, options: KeyOptions): Promise<void> {
  const answer = await gateway.manage.post<Schemas['NewKeyAnswer']>('api-keys', { ...rightsOf(options), name });
  out.show(answer, () => shownOnce(out, answer.key, answer.apiKey));
}

export async function editKey({ gateway, out }: Session, [id = '']: Arguments, options: KeyOptions): Promise<void> {
  const key = await gateway.manage.patch<ApiKey>(`api-keys/${encodeURIComponent(id)}`, rightsOf(options));
  out.show(key, () => fields(key));
}

export async function rotateKey(
  { gateway, out }: Session,
  [id = '']: Arguments,
  { overlap }: { readonly overlap?: number },
): Promise<void> {
  const path = `api-keys/${encodeURIComponent(id)}/rotate`;
  const answer = await gateway.manage.post<Schemas['RotatedKeyAnswer']>(path, { overlapMinutes: overlap });
  out.show(answer, () => {
    out.note(`the former key works until ${timeText(answer.previous.expiresAt)}`);
    return shownOnce(out, answer.key, answer.apiKey);
  });
}

export async function revokeKey({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.delete<Schemas['RevokedKeyAnswer']>(`api-keys/${encodeURIComponent(id)}`);
  out.show(answer, () => {
    const back = answer.comesBack ? '; the next start gives it back, unless it is taken out of the configuration' : '';
    return `${answer.apiKey.name} is revoked${back}`;
  });
}

/** The key alone on standard output, so that it can be taken from there. */
function shownOnce(out: Session['out'], key: string, { id, name }: ApiKey): string {
  out.note(`key ${name} (${id}); it is shown this once:`);
  return key;
}

function rightsOf({ name, scope, connection, ip, expires }: KeyOptions): object {
  const expiresAt = expires === 'never' ? null : expires;
  return { name, scopes: scope, connections: connection, allowedIps: ip, expiresAt };
}

function all(list: readonly string[]): string {
  return list.length === 0 ? 'all' : list.join(',');
}
