/** The temporary keys of a role, from AWS's Security Token Service or a store that has one (STS). */
import { withDeadline } from '../../../base/deadline.js';
import { GatewayError } from '../../../base/errors.js';
import { type Agents, type ShortAnswer, shortRequest, TooLong } from '../../../base/short-request.js';
import type { S3Connection } from '../../../connections/connection.js';
import type { TemporaryKeys } from './credentials.js';
import { USER_AGENT } from './bounded-handler.js';
import { MAX_ANSWER_BYTES } from './instance-keys.js';
import { stsOf } from './endpoint.js';
import { withoutSecrets } from './replies.js';
import { type Keys, RequestSigner } from '../../../base/aws-signature.js';

export interface StsOptions {
  readonly connection: S3Connection;
  /** Lends sockets for one question: keys are renewed long after the client that wanted them was closed. */
  readonly withAgents: <T>(ask: (agents: Agents) => Promise<T>) => Promise<T>;
  /** Until the whole answer. */
  readonly timeoutMs: number;
}

type Role = NonNullable<S3Connection['role']>;

export interface WebIdentity {
  readonly arn: string;
  readonly sessionName: string | undefined;
  /** Proves who asks. */
  readonly token: string;
  /** The URL of the service; absent: as that of a role. */
  readonly endpoint: string | undefined;
}

const VERSION = '2011-06-15';
const SESSION_NAME = 'file-transfer-gateway';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** `keys` ask for the role. Resolves with new keys. @throws GatewayError; see issued */
export async function assumeRole(role: Role, keys: Keys, options: StsOptions): Promise<TemporaryKeys> {
  const url = stsOf(options.connection, role.endpoint);
  const body = bodyOf('AssumeRole', {
    RoleArn: role.arn,
    RoleSessionName: role.sessionName ?? SESSION_NAME,
    ...(role.externalId === undefined ? {} : { ExternalId: role.externalId }),
  });
  const headers = new RequestSigner().sign(
    {
      method: 'POST',
      host: url.host,
      path: url.pathname,
      headers: FORM,
      body,
      time: Date.now(),
      region: options.connection.region,
      service: 'sts',
    },
    keys,
  );
  return issued(url, headers, body, options, {
    advice: 'look at its trust policy, the external id, and the access key',
    secrets: [keys.secretAccessKey, keys.sessionToken],
  });
}

/** The same for the role of a token, which takes the place of a signature. */
export async function assumeRoleWithWebIdentity(identity: WebIdentity, options: StsOptions): Promise<TemporaryKeys> {
  const { arn, sessionName = SESSION_NAME, token, endpoint } = identity;
  const url = stsOf(options.connection, endpoint);
  const body = bodyOf('AssumeRoleWithWebIdentity', {
    RoleArn: arn,
    RoleSessionName: sessionName,
    WebIdentityToken: token,
  });
  return issued(url, FORM, body, options, {
    advice: 'look at its trust policy, and at the identity provider of the token',
    secrets: [token],
  });
}

function bodyOf(action: string, parameters: Readonly<Record<string, string>>): Buffer {
  return Buffer.from(new URLSearchParams({ Action: action, Version: VERSION, ...parameters }).toString());
}

/** What a refusal becomes in words. */
interface Refusal {
  readonly advice: string;
  /** They are left out of the words of the service. */
  readonly secrets: readonly (string | undefined)[];
}

/**
 * The keys of the answer. @throws GatewayError login_refused if the role is refused,
 * remote_failure, protocol_error, connect_timeout, connection_lost, or the error of the dial
 */
async function issued(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  { withAgents, timeoutMs: ms }: StsOptions,
  about: Refusal,
): Promise<TemporaryKeys> {
  const late = (): GatewayError =>
    new GatewayError('connect_timeout', `${url.host} did not issue keys for the role within ${ms} ms`, {
      step: 'login',
    });
  try {
    const answer = await withDeadline({ ms, late }, (limit) =>
      withAgents((agents) =>
        shortRequest(url, {
          method: 'POST',
          headers: { ...headers, 'user-agent': USER_AGENT },
          body,
          maxAnswerBytes: MAX_ANSWER_BYTES,
          limit,
          agents,
        }),
      ),
    );
    return keysIn(answer, url.host, about);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (error instanceof TooLong) throw noAnswer(url.host);
    throw new GatewayError('connection_lost', `${url.host} closed the connection that asked for the role`, {
      step: 'login',
      cause: error,
    });
  }
}

function keysIn({ status, text }: ShortAnswer, host: string, about: Refusal): TemporaryKeys {
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    'AccessKeyId',
    'SecretAccessKey',
    'SessionToken',
    'Expiration',
  ].map((name) => elementIn(text, name));
  if (status !== 200) throw refusal(status, text, host, about);
  const expiresAt = Date.parse(expiration ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || Number.isNaN(expiresAt)) throw noAnswer(host);
  return { accessKeyId, secretAccessKey, sessionToken, expiresAt };
}

function refusal(status: number, text: string, host: string, { advice, secrets }: Refusal): GatewayError {
  const code = elementIn(text, 'Code');
  const words = withoutSecrets(elementIn(text, 'Message') ?? `HTTP ${status}`, secrets);
  const remote = { code: code ?? `HTTP ${status}`, text: words };
  if (status >= 500 || status === 429 || code === 'Throttling' || code === 'ThrottlingException') {
    return new GatewayError('remote_failure', `${host} issued no keys for the role`, { step: 'login', remote });
  }
  if (code === undefined) return noAnswer(host);
  return new GatewayError('login_refused', `${host} refused the role: ${advice}`, { step: 'login', remote });
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
