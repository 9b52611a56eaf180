/** The temporary keys of a role, from AWS's Security Token Service or a store that has one (STS, AssumeRole). */
import http from 'node:http';
import https from 'node:https';
import { onAbort, withDeadline } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import { GatewayError } from '../../../base/errors.js';
import type { S3Connection } from '../../../connections/connection.js';
import type { TemporaryKeys } from './credentials.js';
import { USER_AGENT } from './bounded-handler.js';
import { stsOf } from './endpoint.js';
import { type Keys, RequestSigner } from '../../../base/aws-signature.js';

export interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

interface Options {
  /** Its keys ask for the role. */
  readonly connection: S3Connection;
  readonly agents: Agents;
  /** Until the whole answer. */
  readonly timeoutMs: number;
}

type Role = NonNullable<S3Connection['role']>;

const VERSION = '2011-06-15';
const SESSION_NAME = 'file-transfer-gateway';
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Resolves with new keys. @throws GatewayError login_refused if the role is refused, remote_failure, protocol_error,
 * connect_timeout, or the error of the dial
 */
export async function assumeRole(role: Role, { connection, agents, timeoutMs: ms }: Options): Promise<TemporaryKeys> {
  const url = stsOf(connection, role.endpoint);
  const late = (): GatewayError =>
    new GatewayError('connect_timeout', `${url.host} did not issue keys for the role within ${ms} ms`, {
      step: 'login',
    });
  const body = Buffer.from(
    new URLSearchParams({
      Action: 'AssumeRole',
      Version: VERSION,
      RoleArn: role.arn,
      RoleSessionName: role.sessionName ?? SESSION_NAME,
      ...(role.externalId === undefined ? {} : { ExternalId: role.externalId }),
    }).toString(),
  );
  const { accessKeyId, secretAccessKey, sessionToken, region } = connection;
  const keys: Keys = { accessKeyId, secretAccessKey, sessionToken };
  const headers = new RequestSigner().sign(
    {
      method: 'POST',
      host: url.host,
      path: url.pathname,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
      time: Date.now(),
      region,
      service: 'sts',
    },
    keys,
  );
  try {
    const answer = await withDeadline({ ms, late }, (limit) => post(url, headers, body, agents, limit));
    return keysIn(answer, url.host);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('connection_lost', `${url.host} closed the connection that asked for the role`, {
      step: 'login',
      cause: error,
    });
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function post(
  url: URL,
  headers: http.OutgoingHttpHeaders,
  body: Buffer,
  agents: Agents,
  limit: EndSignal,
): Promise<Answer> {
  const isSecure = url.protocol === 'https:';
  return new Promise((done, fail) => {
    const request = (isSecure ? https : http).request({
      method: 'POST',
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port,
      path: url.pathname,
      // Rare requests: a kept socket would often be closed by the next one.
      headers: { ...headers, 'content-length': body.length, 'user-agent': USER_AGENT, connection: 'close' },
      agent: isSecure ? agents.https : agents.http,
    });
    request.once(
      'close',
      onAbort(limit, (reason) => request.destroy(reason)),
    );
    request.on('error', fail);
    request.once('response', (answer) => {
      textOf(answer, url.host).then((text) => done({ status: answer.statusCode ?? 0, text }), fail);
    });
    request.end(body);
  });
}

async function textOf(answer: http.IncomingMessage, host: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw noAnswer(host);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function keysIn({ status, text }: Answer, host: string): TemporaryKeys {
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    'AccessKeyId',
    'SecretAccessKey',
    'SessionToken',
    'Expiration',
  ].map((name) => elementIn(text, name));
  if (status !== 200) throw refusal(status, text, host);
  const expiresAt = Date.parse(expiration ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || Number.isNaN(expiresAt)) throw noAnswer(host);
  return { accessKeyId, secretAccessKey, sessionToken, expiresAt };
}

function refusal(status: number, text: string, host: string): GatewayError {
  const code = elementIn(text, 'Code');
  const remote = { code: code ?? `HTTP ${status}`, text: elementIn(text, 'Message') ?? `HTTP ${status}` };
  if (status >= 500 || status === 429 || code === 'Throttling' || code === 'ThrottlingException') {
    return new GatewayError('remote_failure', `${host} issued no keys for the role`, { step: 'login', remote });
  }
  if (code === undefined) return noAnswer(host);
  return new GatewayError(
    'login_refused',
    `${host} refused the role: look at its trust policy, the external id, and the access key`,
    { step: 'login', remote },
  );
}

function noAnswer(host: string): GatewayError {
  return new GatewayError('protocol_error', `${host} sent an answer that is none of a security token service`, {
    step: 'login',
  });
}

/** The text of an element that occurs once. */
function elementIn(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.trim();
  return found?.replace(/&(lt|gt|quot|apos|amp);/g, (_, entity: string) => ENTITIES[entity] ?? '');
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
