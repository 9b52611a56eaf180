/** `ftg doctor`: checks everything from here to the remote servers, with advice for each failure. */
import { messageOf } from '../../base/errors.js';
import { FtgError } from '../../client/index.js';
import { ALL_SCOPES, type Scope } from '../../contract/scopes.js';
import type { Session } from '../command.js';
import { EXIT, Exit } from '../exit-codes.js';
import type { Gateway, Schemas } from '../gateway.js';
import { printable } from '../output.js';

interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  readonly advice?: string;
}

/** The API version that this program was written for. */
const API_VERSION = '1.0.0';
const MAX_SKEW_MS = 30_000;
/** The gateway limits tests per minute, and a longer run would take too much time. */
const MAX_TESTS = 20;

export async function doctor(session: Session, connections: readonly string[]): Promise<void> {
  const checks: Check[] = [];
  const add = (check: Check): void => {
    checks.push(check);
    if (!session.out.isJson) session.out.show(check, () => lineOf(check));
  };
  // After a failure here, later checks would fail for the same reason.
  if ((await reach(session, add)) && (await key(session, add))) await servers(session, connections, add);
  const isOk = checks.every(({ status }) => status !== 'failed');
  if (session.out.isJson) session.out.show({ isOk, checks }, () => '');
  if (!isOk) throw new Exit(EXIT.failure);
}

type Add = (check: Check) => void;

async function reach({ gateway, signal }: Session, add: Add): Promise<boolean> {
  const { url } = gateway;
  let response: Response;
  const sentAt = Date.now();
  try {
    response = await gateway.call('/healthz', {});
  } catch (error) {
    signal.throwIfAborted();
    const { cause } = error as Error;
    const reason = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : String(error);
    const advice = `Is it running, and is ${url} its address? A firewall, a proxy or the certificate may be in the way.`;
    add({ name: 'gateway', status: 'failed', detail: `${url}: ${reason}`, advice });
    return false;
  }
  const answeredAt = Date.now();
  if (!response.ok) {
    const advice = 'Something else answers there: check the address of the profile.';
    add({ name: 'gateway', status: 'failed', detail: `${url} answers ${response.status}`, advice });
    return false;
  }
  add({ name: 'gateway', status: 'ok', detail: `${url} answers in ${answeredAt - sentAt} ms` });
  add(transport(url));
  add(await readiness(gateway));
  add(await version(gateway));
  add(clock(response.headers.get('date'), sentAt, answeredAt));
  return true;
}

function transport(url: string): Check {
  const { protocol, hostname } = new URL(url);
  const isHere = ['localhost', '[::1]'].includes(hostname) || hostname.startsWith('127.');
  if (protocol === 'https:') return { name: 'transport', status: 'ok', detail: 'encrypted' };
  if (isHere) return { name: 'transport', status: 'ok', detail: 'not encrypted, and does not leave this machine' };
  const advice = 'Use https: keys and files can be read on the way.';
  return { name: 'transport', status: 'warning', detail: 'not encrypted', advice };
}

async function readiness(gateway: Gateway): Promise<Check> {
  const response = await gateway.call('/readyz', {});
  if (response.ok) return { name: 'ready', status: 'ok', detail: 'the database is there' };
  const { error = `it answers ${response.status}` } = (await response.json().catch(() => ({}))) as { error?: string };
  const advice = 'See the log of the gateway, and database.url in its configuration.';
  return { name: 'ready', status: 'failed', detail: error, advice };
}

async function version(gateway: Gateway): Promise<Check> {
  const response = await gateway.call('/openapi.json', {});
  type Document = { readonly info?: { readonly version?: string } };
  const { info } = (await response.json().catch(() => ({}))) as Document;
  const found = info?.version ?? 'unknown';
  const isSame = found.split('.')[0] === API_VERSION.split('.')[0];
  if (isSame) return { name: 'version', status: 'ok', detail: `API ${found}` };
  const detail = `API ${found}; this program speaks ${API_VERSION}`;
  return { name: 'version', status: 'warning', detail, advice: 'Install the ftg that came with the gateway.' };
}

function clock(date: string | null, sentAt: number, answeredAt: number): Check {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return { name: 'clock', status: 'warning', detail: 'the answer has no Date' };
  // The field has whole seconds, rounded down.
  const early = sentAt - (theirs + 999);
  const late = theirs - answeredAt;
  const skewMs = Math.max(early, late, 0);
  const detail = `${skewMs < 1_000 ? 'less than a second' : `${Math.round(skewMs / 1_000)} s`} apart`;
  if (skewMs <= MAX_SKEW_MS) return { name: 'clock', status: 'ok', detail };
  const advice =
    'Set both clocks by NTP: signatures of webhooks and of S3, and codes of authenticators go by the time.';
  return { name: 'clock', status: 'warning', detail, advice };
}

async function key({ gateway, signal }: Session, add: Add): Promise<boolean> {
  try {
    const { email, plan } = await gateway.files.me({ signal });
    add({ name: 'key', status: 'ok', detail: `${email}, plan ${plan}` });
  } catch (error) {
    signal.throwIfAborted();
    const advice =
      error instanceof FtgError && error.status === 401
        ? 'Issue a key in the dashboard, or with "ftg keys create" by somebody who may; "ftg login" takes e-mail and password.'
        : 'See the text.';
    add({ name: 'key', status: 'failed', detail: messageOf(error), advice });
    return false;
  }
  const held = await Promise.all(ALL_SCOPES.map((scope) => hasScope(gateway, scope)));
  const [has, lacks] = [ALL_SCOPES.filter((_, at) => held[at]), ALL_SCOPES.filter((_, at) => !held[at])];
  add({
    name: 'scopes',
    status: 'ok',
    detail: `${has.join(', ')}${lacks.length === 0 ? '' : `; not ${lacks.join(', ')}`}`,
  });
  return true;
}

/** The scope is checked before the request: an invalid request shows the scope without any effect. */
const PROBES: Readonly<Record<Scope, readonly [method: string, path: string]>> = {
  read: ['GET', '/api/read/-'],
  write: ['POST', '/api/delete/-'],
  exec: ['POST', '/api/exec/-'],
  watch: ['GET', '/api/watched-folders'],
  admin: ['GET', '/manage/session'],
};

async function hasScope(gateway: Gateway, scope: Scope): Promise<boolean> {
  const [method, path] = PROBES[scope];
  const response = await gateway.call(path, { method, ...(method === 'POST' ? EMPTY : {}) });
  await response.body?.cancel();
  return response.headers.get('x-error-code') !== 'scope_missing' && response.status !== 401;
}

const EMPTY = { body: '{}', headers: { 'Content-Type': 'application/json' } };

async function servers(session: Session, wanted: readonly string[], add: Add): Promise<void> {
  const { gateway, signal } = session;
  const listed = await gateway.files.connections({ signal });
  const unknown = wanted.filter((id) => !listed.some((one) => one.id === id));
  for (const id of unknown) add({ name: id, status: 'failed', detail: 'there is no such connection' });
  const chosen = listed.filter(({ id, isActive }) => (wanted.length === 0 ? isActive : wanted.includes(id)));
  for (const { id } of chosen.slice(0, MAX_TESTS)) add(await server(session, id));
  const left = chosen.slice(MAX_TESTS).map(({ id }) => id);
  if (left.length > 0) {
    const advice = `Name them: ftg doctor ${left.slice(0, 3).join(' ')} …`;
    add({ name: 'connections', status: 'warning', detail: `${left.length} more were not tested`, advice });
  }
}

/** Uses the owner's test; for a key without that right, lists the root of the connection. */
async function server({ gateway, signal }: Session, id: string): Promise<Check> {
  try {
    const path = `connections/${encodeURIComponent(id)}/test`;
    const report = await gateway.manage.post<Schemas['TestReport']>(path, { probe: false });
    const failed = report.steps.find(({ status }) => status === 'failed');
    if (failed === undefined) return { name: id, status: 'ok', detail: `every step in ${report.durationMs} ms` };
    const detail = `${failed.name}: ${failed.error ?? 'failed'}`;
    return { name: id, status: 'failed', detail, ...(failed.advice === undefined ? {} : { advice: failed.advice }) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FtgError) || error.code !== 'scope_missing') {
      return { name: id, status: 'failed', detail: messageOf(error) };
    }
  }
  try {
    await gateway.files.exists(id, '/', { signal });
    return { name: id, status: 'ok', detail: 'it can be looked into' };
  } catch (error) {
    signal.throwIfAborted();
    const advice = `With an admin key or a login, "ftg connections test ${id}" says which step fails.`;
    return { name: id, status: 'failed', detail: messageOf(error), advice };
  }
}

function lineOf({ name, status, detail, advice }: Check): string {
  const mark = { ok: 'ok  ', warning: 'WARN', failed: 'FAIL' }[status];
  const line = `${mark}  ${name.padEnd(12)}  ${printable(detail)}`;
  return advice === undefined ? line : `${line}\n      → ${printable(advice)}`;
}
