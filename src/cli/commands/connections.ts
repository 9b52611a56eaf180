/** `ftg connections`: the servers of the account, their test and their host keys. */
import type { Arguments, Session } from '../command.js';
import type { FieldOption } from '../connection-options.js';
import { Exit, EXIT, UsageError } from '../exit-codes.js';
import type { Schemas } from '../gateway.js';
import { fields, printable, table, timeText } from '../output.js';
import { readSecret, readText } from '../secrets.js';

type Connection = Schemas['ManagedConnection'];
type Values = Readonly<Record<string, unknown>>;
type TestReport = Schemas['TestReport'];

/** By the file API: any key may look. */
export async function listConnections({ gateway, out, signal }: Session): Promise<void> {
  const connections = await gateway.files.connections({ signal });
  out.show({ connections }, () => {
    const rows = connections.map(({ id, name, type, isActive }) => [id, name, type, isActive ? 'active' : 'off']);
    return table(['ID', 'NAME', 'TYPE', 'STATE'], rows, 'no connections');
  });
}

export async function showConnection({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const connection = await gateway.manage.get<Schemas['ManagedConnection']>(at(id));
  out.show(connection, () => fields(connection));
}

type FieldOptions = Readonly<Record<string, unknown>> & { readonly from?: string };

export function createConnection(fieldOptions: readonly FieldOption[]) {
  return async ({ gateway, out }: Session, [id]: Arguments, options: FieldOptions): Promise<void> => {
    const { type } = options;
    const input: Values = {
      ...(await fieldsOf(fieldOptions, options)),
      ...(id === undefined ? {} : { id }),
      ...(type === undefined ? {} : { type }),
    };
    const named = 'name' in input || id === undefined ? input : { ...input, name: id };
    const connection = await gateway.manage.post<Connection>('connections', named);
    out.show(connection, () => fields(connection));
  };
}

export function editConnection(fieldOptions: readonly FieldOption[]) {
  return async ({ gateway, out }: Session, [id = '']: Arguments, options: FieldOptions): Promise<void> => {
    const changes = await fieldsOf(fieldOptions, options, () => gateway.manage.get<Connection>(at(id)));
    if (Object.keys(changes).length === 0) throw new UsageError('nothing to change: see ftg connections edit --help');
    const connection = await gateway.manage.patch<Connection>(at(id), changes);
    out.show(connection, () => fields(connection));
  };
}

/** What the file has, then the options. Of a field with parts the others stay as they are `stored`. @throws UsageError */
async function fieldsOf(
  fieldOptions: readonly FieldOption[],
  options: FieldOptions,
  stored?: () => Promise<Values>,
): Promise<Values> {
  const given = fieldOptions
    .map((one) => ({ ...one, value: options[one.option.attributeName()] }))
    .filter(({ value }) => value !== undefined);
  const files = given.filter(({ isFile }) => isFile).map(({ value }) => value);
  if ([...files, options.from].filter((file) => file === '-').length > 1) {
    throw new UsageError('only one file can come from standard input');
  }
  const found: Record<string, unknown> = options.from === undefined ? {} : await objectIn(options.from);
  for (const { field, part, isFile, isNullable, value } of given) {
    const said = isFile ? await readSecret(String(value)) : isNullable && value === '' ? null : value;
    if (part !== undefined) found[field] ??= (await stored?.())?.[field] ?? {};
    found[field] = part === undefined ? said : { ...(found[field] as object), [part]: said };
  }
  return found;
}

async function objectIn(file: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(await readText(file));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UsageError(`${file} must hold a JSON object with the fields of a connection`);
}

export function switchConnection(verb: 'activate' | 'deactivate') {
  return async ({ gateway, out }: Session, [id = '']: Arguments): Promise<void> => {
    const connection = await gateway.manage.post<Connection>(`${at(id)}/${verb}`);
    out.show(connection, () => `${connection.id} is ${connection.isActive ? 'active' : 'off'}`);
  };
}

export async function duplicateConnection(
  { gateway, out }: Session,
  [id = '', newId]: Arguments,
  { name }: { readonly name?: string },
): Promise<void> {
  const connection = await gateway.manage.post<Connection>(`${at(id)}/duplicate`, { id: newId, name });
  out.show(connection, () => fields(connection));
}

export async function deleteConnection(
  { gateway, out }: Session,
  [id = '']: Arguments,
  { force = false }: { readonly force?: boolean },
): Promise<void> {
  const answer = await gateway.manage.delete(at(id), force ? { confirm: true } : {});
  out.show(answer, () => `${id} is deleted`);
}

export async function testConnection(
  { gateway, out }: Session,
  [id = '']: Arguments,
  { probe = false }: { readonly probe?: boolean },
): Promise<void> {
  const report = await gateway.manage.post<TestReport>(`${at(id)}/test`, { probe });
  out.show(report, () => {
    const rows = report.steps.map(({ name, status, durationMs, detail, error }) => [
      name,
      status,
      durationMs === undefined ? '-' : `${durationMs} ms`,
      error ?? detail,
    ]);
    const advice = report.steps.flatMap(({ advice: text }) => (text === undefined ? [] : [`\n${printable(text)}`]));
    return [table(['STEP', 'RESULT', 'TIME', 'WHAT'], rows), ...advice].join('\n');
  });
  if (!report.isOk) throw new Exit(EXIT.failure);
}

export async function showHostKeys({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.get<Schemas['HostKeysAnswer']>(`${at(id)}/host-keys`);
  out.show(answer, () => {
    const rows = answer.hostKeys.map((key) => [key, answer.learned ? 'learned at the first login' : 'pinned']);
    for (const { fingerprint, state, isFirst } of answer.announced) {
      const isKnown = state === 'pending' && isFirst;
      if (state !== 'trusted') rows.push([fingerprint, isKnown ? 'not used, known from the start' : state]);
    }
    return table(['FINGERPRINT', 'STATE'], rows, 'none: the first one shown is trusted');
  });
}

export async function scanHostKeys({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.post<Schemas['ScannedKeysAnswer']>(`${at(id)}/host-keys/scan`);
  out.show(answer, () => {
    const rows = answer.shown.map(({ fingerprint, isPinned }) => [fingerprint, isPinned ? 'pinned' : 'not pinned']);
    return table(['FINGERPRINT', 'STATE'], rows);
  });
}

export async function pinHostKey(
  { gateway, out }: Session,
  [id = '', fingerprint = '']: Arguments,
  { replace = false }: { readonly replace?: boolean },
): Promise<void> {
  const connection = await gateway.manage.post<Connection>(`${at(id)}/host-keys`, { fingerprint, replace });
  out.show(connection, () => `${connection.id} trusts ${fingerprint}${replace ? ' alone' : ''}`);
}

export async function acceptHostKey({ gateway, out }: Session, [id = '', fingerprint = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.post<Schemas['HostKeysAnswer']>(`${at(id)}/host-keys/accept`, { fingerprint });
  out.show(answer, () => `${id} trusts ${fingerprint}`);
}

export async function rejectHostKey({ gateway, out }: Session, [id = '', fingerprint = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.post<Schemas['HostKeysAnswer']>(`${at(id)}/host-keys/reject`, { fingerprint });
  out.show(answer, () => `${id} will not trust ${fingerprint}`);
}

export async function forgetHostKeys({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const connection = await gateway.manage.delete<Connection>(`${at(id)}/host-keys`);
  out.show(connection, () => `${connection.id} trusts the next host key that it is shown`);
}

export async function listKeyPairs({ gateway, out }: Session): Promise<void> {
  const answer = await gateway.manage.get<Schemas['KeyPairsAnswer']>('key-pairs');
  out.show(answer, () => {
    const rows = answer.keyPairs.map((pair) => [pair.id, pair.name, timeText(pair.createdAt), pair.usedBy.join(',')]);
    return table(['ID', 'NAME', 'MADE', 'USED BY'], rows, 'no key pairs');
  });
}

/** The public key on standard output: it goes into `authorized_keys`. */
export async function createKeyPair({ gateway, out }: Session, [name = '']: Arguments): Promise<void> {
  const pair = await gateway.manage.post<Schemas['KeyPair']>('key-pairs', { name });
  out.show(pair, () => {
    out.note(`key pair ${pair.id}; its public key:`);
    return pair.publicKey;
  });
}

export async function deleteKeyPair({ gateway, out }: Session, [id = '']: Arguments): Promise<void> {
  const answer = await gateway.manage.delete(`key-pairs/${encodeURIComponent(id)}`);
  out.show(answer, () => `key pair ${id} is deleted`);
}

function at(id: string): string {
  return `connections/${encodeURIComponent(id)}`;
}
