/** `ftg connections`: the servers of the account, their tests and their host keys. */
import { type Arguments, type Session, shows } from '../command.js';
import type { FieldOption } from '../connection-options.js';
import { Exit, EXIT, UsageError } from '../exit-codes.js';
import type { Schemas } from '../gateway.js';
import { fields, listed, printable, table } from '../output.js';
import { readSecret, readText } from '../secrets.js';

type Connection = Schemas['ManagedConnection'];
type Values = Readonly<Record<string, unknown>>;
type TestReport = Schemas['TestReport'];

/** Uses the file API, so that any key may list them. */
export const listConnections = shows(
  async ({ gateway, signal }) => ({ connections: await gateway.files.connections({ signal }) }),
  ({ connections }) =>
    listed(
      connections,
      { ID: 'id', NAME: 'name', TYPE: 'type', STATE: ({ isActive }) => (isActive ? 'active' : 'off') },
      'no connections',
    ),
);

export const showConnection = shows(({ gateway }, [id = '']) => gateway.manage.get<Connection>(at(id)), fields);

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

/**
 * The values of the file, then those of the options. If only some parts of a field are given, the others keep their
 * `stored` values, but not those that belong to another kind. @throws UsageError
 */
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
  for (const { field, part, isFile, isNullable, partsFor = {}, value } of given) {
    const said = isFile ? await readSecret(String(value)) : isNullable && value === '' ? null : value;
    if (part !== undefined) found[field] ??= (await stored?.())?.[field];
    const known: Values = typeof found[field] === 'object' ? { ...found[field] } : {};
    const others = Object.entries(known).filter(([name]) => (partsFor[name] ?? said) === said);
    found[field] = part === undefined || said === null ? said : { ...Object.fromEntries(others), [part]: said };
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

export const switchConnection = (verb: 'activate' | 'deactivate') =>
  shows(
    ({ gateway }, [id = '']) => gateway.manage.post<Connection>(`${at(id)}/${verb}`),
    ({ id, isActive }) => `${id} is ${isActive ? 'active' : 'off'}`,
  );

export const duplicateConnection = shows(
  ({ gateway }, [id = '', newId], { name, via }: { readonly name?: string; readonly via?: string }) =>
    gateway.manage.post<Connection>(`${at(id)}/duplicate`, { id: newId, name, via: via === '' ? null : via }),
  fields,
);

export const deleteConnection = shows(
  ({ gateway }, [id = ''], { force = false }: { readonly force?: boolean }) =>
    gateway.manage.delete(at(id), force ? { confirm: true } : {}),
  (_, id) => `${id} is deleted`,
);

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

export const scanHostKeys = shows(
  ({ gateway }, [id = '']) => gateway.manage.post<Schemas['ScannedKeysAnswer']>(`${at(id)}/host-keys/scan`),
  ({ shown }) =>
    listed(shown, { FINGERPRINT: 'fingerprint', STATE: ({ isPinned }) => (isPinned ? 'pinned' : 'not pinned') }),
);

export async function pinHostKey(
  { gateway, out }: Session,
  [id = '', fingerprint = '']: Arguments,
  { replace = false }: { readonly replace?: boolean },
): Promise<void> {
  const connection = await gateway.manage.post<Connection>(`${at(id)}/host-keys`, { fingerprint, replace });
  out.show(connection, () => `${connection.id} trusts ${fingerprint}${replace ? ' alone' : ''}`);
}

export const decideOnHostKey =
  (verb: 'accept' | 'reject') =>
  async ({ gateway, out }: Session, [id = '', fingerprint = '']: Arguments): Promise<void> => {
    const answer = await gateway.manage.post<Schemas['HostKeysAnswer']>(`${at(id)}/host-keys/${verb}`, { fingerprint });
    out.show(answer, () => `${id} ${verb === 'accept' ? 'trusts' : 'will not trust'} ${fingerprint}`);
  };

export const forgetHostKeys = shows(
  ({ gateway }, [id = '']) => gateway.manage.delete<Connection>(`${at(id)}/host-keys`),
  ({ id }) => `${id} trusts the next host key that it is shown`,
);

export const listKeyPairs = shows(
  ({ gateway }) => gateway.manage.get<Schemas['KeyPairsAnswer']>('key-pairs'),
  ({ keyPairs }) =>
    listed(
      keyPairs,
      { ID: 'id', NAME: 'name', MADE: 'createdAt', 'USED BY': ({ usedBy }) => usedBy.join(',') },
      'no key pairs',
    ),
);

/** Prints the public key to standard output: it belongs in `authorized_keys`. */
export const createKeyPair = shows(
  ({ gateway }, [name = '']) => gateway.manage.post<Schemas['KeyPair']>('key-pairs', { name }),
  ({ id, publicKey }, _, out) => {
    out.note(`key pair ${id}; its public key:`);
    return publicKey;
  },
);

export const deleteKeyPair = shows(
  ({ gateway }, [id = '']) => gateway.manage.delete(`key-pairs/${encodeURIComponent(id)}`),
  (_, id) => `key pair ${id} is deleted`,
);

function at(id: string): string {
  return `connections/${encodeURIComponent(id)}`;
}
