/**
 * Requests to the gateway by n8n's own helper, which uses the proxies, certificates and limits that n8n is configured
 * with.
 */
import { NodeOperationError, type ByteStream, type FunctionsBase, type JsonObject } from 'n8n-workflow';
import type { Answer } from './answer.js';
import { ownError, refusedError } from './errors.js';

const CREDENTIALS = 'fileTransferGatewayApi';
/** A larger body is no error of a gateway. */
const MAX_ERROR_BYTES = 65_536;

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The parts of the path, encoded here; such as `['upload', connectionId]` for `/api/upload/…`. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject | ByteStream | Uint8Array;
}

/** The body of the answer as JSON. @throws NodeApiError */
export async function call<T = JsonObject>(context: FunctionsBase, request: Call): Promise<T> {
  const answer = await send(context, request, { json: true });
  if (isGood(answer) && typeof answer.body === 'object' && answer.body !== null) return answer.body as T;
  throw isGood(answer)
    ? ownError(context.getNode(), 'invalid_answer', 'the answer is not as a gateway answers')
    : refusedError(context.getNode(), answer);
}

/** The answer with an unread body. @throws NodeApiError */
export async function open(
  context: FunctionsBase,
  request: Call,
): Promise<Omit<Answer, 'body'> & { readonly body: ByteStream }> {
  const answer = await send(context, request, { encoding: 'stream' });
  const body = answer.body as ByteStream;
  if (isGood(answer)) return { ...answer, body };
  throw refusedError(context.getNode(), { ...answer, body: await readJson(body) });
}

async function send(
  context: FunctionsBase,
  { method, path, query = {}, headers = {}, body }: Call,
  how: { readonly json: true } | { readonly encoding: 'stream' },
): Promise<Answer> {
  const { baseUrl } = await context.getCredentials(CREDENTIALS);
  if (typeof baseUrl !== 'string' || baseUrl === '') {
    throw new NodeOperationError(context.getNode(), 'the credential has no base URL');
  }
  return (await context.helpers.httpRequestWithAuthentication.call(context, CREDENTIALS, {
    method,
    url: `${baseUrl.replace(/\/+$/, '')}/api/${encoded(context, path, query)}`,
    // With compression, the length of a file would be unknown.
    headers: { 'Accept-Encoding': 'identity', ...headers },
    ...(body === undefined ? {} : { body }),
    ...how,
    returnFullResponse: true,
    // An error answer has more details than n8n would show.
    ignoreHttpStatusErrors: true,
    // To follow a redirect, n8n would hold the whole body of an upload in memory.
    disableFollowRedirect: true,
  })) as Answer;
}

function encoded(context: FunctionsBase, path: Call['path'], query: NonNullable<Call['query']>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string | number | boolean] => {
    return pair[1] !== undefined;
  });
  try {
    const search = given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
    return `${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
  } catch {
    throw ownError(context.getNode(), 'invalid_name', 'a path or a file name is no whole text');
  }
}

const isGood = ({ statusCode }: Answer): boolean => statusCode >= 200 && statusCode < 300;

async function readJson(body: ByteStream): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    if ((bytes += chunk.byteLength) > MAX_ERROR_BYTES) return undefined;
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch {
    return undefined;
  }
}
