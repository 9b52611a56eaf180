/** Requests to the operator's own stores of secrets. */
import { withDeadline } from '../../base/deadline.js';
import { shortRequest, TooLong } from '../../base/short-request.js';
import { unreadable } from './unreadable.js';

const MOST_MS = 10_000;
const MAX_BYTES = 1_048_576;

interface Question {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface StoreAnswer {
  readonly status: number;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

/** @throws GatewayError login_refused */
export async function ask(url: URL, question: Question): Promise<StoreAnswer> {
  const late = (): Error => unreadable(`cannot be read: ${url.host} has not answered for ${MOST_MS / 1_000} s`);
  return withDeadline({ ms: MOST_MS, late }, async (limit) => {
    try {
      const { status, text } = await shortRequest(url, { ...question, maxAnswerBytes: MAX_BYTES, limit });
      return { status, json: parsed(text) };
    } catch (error) {
      if (error instanceof TooLong) {
        throw unreadable(`cannot be read: ${url.host} answered with more than ${MAX_BYTES} bytes`);
      }
      throw unreadable(`cannot be read: ${url.host} cannot be reached${reasonOf(error)}`);
    }
  });
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

function reasonOf(error: unknown): string {
  const code = valueIn(error, 'code');
  return typeof code === 'string' ? ` (${code})` : '';
}
