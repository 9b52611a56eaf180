/** The bench's calls of a gateway's APIs, outside of what is measured. */
import type { GatewayUnderTest } from './gateway.js';

/** @throws if the answer is not 2xx */
export async function ask(
  { url, headers }: Pick<GatewayUnderTest, 'url' | 'headers'>,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const answer = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
}
