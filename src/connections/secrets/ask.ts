/** Requests to the operator's own stores of secrets. */
import { withDeadline } from '../../base/deadline.js';
import { abortSignalOf, type Ending } from '../../base/ending.js';
import { toGatewayError } from '../../base/errors.js';
import { unreadable } from './unreadable.js';

const MOST_MS = 10_000;
const MAX_BYTES = 1_048_576;

interface Question {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

/** Follows no redirect: that would send a token elsewhere. @throws GatewayError login_refused */
export async function ask(url: URL, question: Question): Promise<Answer> {
  const late = (): Error => unreadable(`cannot be read: ${url.host} has not answered for ${MOST_MS / 1_000} s`);
  return withDeadline({ ms: MOST_MS, late }, async (limit) => {
    try {
      return await answerTo(url, question, limit);
    } catch (error) {
      throw isOurs(error) ? error : unreadable(`cannot be read: ${url.host} cannot be reached${reasonOf(error)}`);
    }
  });
}

async function answerTo(url: URL, question: Question, limit: Ending): Promise<Answer> {
  const response = await fetch(url, { ...question, redirect: 'manual', signal: abortSignalOf(limit) });
  const body: AsyncIterable<Uint8Array> | null = response.body;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.byteLength;
    if (bytes > MAX_BYTES) throw unreadable(`cannot be read: ${url.host} answered with more than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return { status: response.status, json: parsed(Buffer.concat(parts).toString()) };
}

/** undefined if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value at this path; undefined if there is none. */
export function valueIn(json: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? Object.entries(value).find(([key]) => key === name)?.[1]
        : undefined,
    json,
  );
}

/** The text at this path. @throws GatewayError login_refused, in words that name the last part of the path */
export function textIn(json: unknown, ...path: readonly [string, ...string[]]): string {
  const value = valueIn(json, ...path);
  if (typeof value === 'string') return value;
  const problem = value === undefined ? 'has no value' : 'has a value that is no text';
  throw unreadable(`${problem} named ${path.at(-1) ?? ''}`);
}

function isOurs(error: unknown): boolean {
  return toGatewayError(error).code === 'login_refused';
}

/** fetch wraps the reason. */
function reasonOf(error: unknown): string {
  const code = valueIn(error instanceof Error ? error.cause : undefined, 'code');
  return typeof code === 'string' ? ` (${code})` : '';
}
