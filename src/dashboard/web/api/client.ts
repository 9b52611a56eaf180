import { capital } from '../../../base/letters.ts';
import { MINUTE_MS } from '../../../contract/units.ts';
import type { AnswerOf, WithoutQuery } from './answers.ts';
import { parseRetryAfter } from '../../../base/retry-schedule.ts';
import { t } from '../texts/texts.ts';
import { reachFailed } from './reach.ts';
import type { Cause } from './types.ts';
import { type SessionEnd, sessionEnd, toSessionEnd } from './session-end.ts';

/** Requests to the gateway that served this page. The CSRF token is only in this module: not in storage, not in a URL. */
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

/** After this long without a key or a pointer event, the page counts as unattended. */
const ATTENDED_MS = 5 * MINUTE_MS;
let touchedAt = Date.now();
for (const sign of ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const) {
  addEventListener(sign, () => (touchedAt = Date.now()), { capture: true, passive: true });
}

/** Requests of an unattended page do not extend the session. Otherwise an open page would keep its session alive forever. */
function attendance(): Record<string, string> {
  return Date.now() - touchedAt < ATTENDED_MS ? {} : { 'X-Unattended': 'true' };
}

/** Sets the callback for answers that report the end of the session. It gets the reason. */
export function whenSignedOut(callback: (why: SessionEnd) => void): void {
  onSignedOut = callback;
}

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Resolves to the JSON answer. @throws ApiError with the gateway's text; its status is 0 if the gateway cannot be reached */
export async function request<M extends Method, const A extends string>(
  method: M,
  path: A,
  body?: unknown,
  signal?: AbortSignal,
): Promise<AnswerOf<M, A>> {
  const response = await fetchAnswer(method, path, body, signal);
  return (await response.json()) as AnswerOf<M, A>;
}

export async function fetchAnswer(
  method: Method,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  // Screens that poll would be refused on every poll until the user has logged in again.
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
    // The body is not the gateway's JSON: a proxy answered. Its page does not help the user.
  }
  const code = header('X-Error-Code') ?? '';
  if (status === 401 && code === 'unauthenticated' && path !== LOGIN)
    onSignedOut(toSessionEnd(header('X-Session-End')));
  const askedMs = parseRetryAfter(header('Retry-After'), Date.now()) ?? 0;
  return new ApiError(
    text === '' ? t.common.statusAnswer(status) : capital(text),
    status,
    code,
    askedMs > 0 ? Math.ceil(askedMs / 1_000) : undefined,
  );
}

/** The page's own errors, such as a lost network, have no code: their text is in the language of the page. */
export function causeOf(error: unknown): Cause {
  if (!(error instanceof Error)) return { text: String(error) };
  return { text: error.message, code: error instanceof ApiError && error.status > 0 ? error.code : undefined };
}

/** Adds query parameters to a path and omits empty ones. */
export function withQuery<const A extends string>(
  path: A,
  values: Readonly<Record<string, string | number | undefined>>,
): A | `${WithoutQuery<A>}?${string}` {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  if (parameters.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${parameters.toString()}` as `${WithoutQuery<A>}?${string}`;
}

export const segment = encodeURIComponent;
