import { parseRetryAfter } from '../../../base/retry-schedule.ts';
import { t } from '../texts/texts.ts';
import { reachFailed } from './reach.ts';
import { type SessionEnd, sessionEnd, toSessionEnd } from './session-end.ts';

/** Talks to the gateway that served this page. The CSRF token lives in this module alone: not in storage, not in a URL. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly retryAfterSeconds: number | undefined,
  ) {
    super(message);
  }
}

const LOGIN = '/manage/login';
let csrfToken = '';
let onSignedOut: (why: SessionEnd) => void = () => undefined;

export function setCsrfToken(token: string): void {
  csrfToken = token;
}

export function csrfHeader(): Record<string, string> {
  return csrfToken === '' ? {} : { 'X-CSRF-Token': csrfToken };
}

/** Nobody is taken to be at the page after this long without a key or a pointer. */
const ATTENDED_MS = 5 * 60_000;
let touchedAt = Date.now();
for (const sign of ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const) {
  addEventListener(sign, () => (touchedAt = Date.now()), { capture: true, passive: true });
}

/** What the page asks by itself keeps no session alive, or none would ever end while a page is open. */
function attendance(): Record<string, string> {
  return Date.now() - touchedAt < ATTENDED_MS ? {} : { 'X-Unattended': 'true' };
}

/** Told when an answer says that the session is over, and why. */
export function whenSignedOut(tell: (why: SessionEnd) => void): void {
  onSignedOut = tell;
}

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The JSON answer. @throws ApiError with the gateway's own text; status 0 where it cannot be reached */
export async function request<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await fetchAnswer(method, path, body, signal);
  return (await response.json()) as T;
}

export async function fetchAnswer(
  method: Method,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  // What looks again and again would be refused again and again until somebody has logged in.
  if (sessionEnd() !== undefined && path !== LOGIN) {
    throw new ApiError(t.session.over.title, 401, 'unauthenticated', undefined);
  }
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        ...(method === 'GET' ? attendance() : csrfHeader()),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    reachFailed();
    throw new ApiError(t.common.away.request, 0, 'offline', undefined);
  }
  if (response.ok) return response;
  throw toApiError(response.status, (name) => response.headers.get(name), await response.text(), path);
}

export function toApiError(
  status: number,
  header: (name: string) => string | null,
  body: string,
  path: string,
): ApiError {
  let text = '';
  try {
    text = (JSON.parse(body) as { error?: string }).error ?? '';
  } catch {
    // Something between us and the gateway answered; its page helps nobody.
  }
  const code = header('X-Error-Code') ?? '';
  if (status === 401 && code === 'unauthenticated' && path !== LOGIN)
    onSignedOut(toSessionEnd(header('X-Session-End')));
  const askedMs = parseRetryAfter(header('Retry-After'), Date.now()) ?? 0;
  return new ApiError(
    text === '' ? t.common.statusAnswer(status) : sentence(text),
    status,
    code,
    askedMs > 0 ? Math.ceil(askedMs / 1_000) : undefined,
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Query parameters without the empty ones. */
export function withQuery(path: string, values: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${parameters.toString()}`;
}

export const segment = encodeURIComponent;
