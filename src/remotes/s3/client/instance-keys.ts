/**
 * The keys of the role of the machine or container that the gateway runs on, from its metadata service. The network
 * rules deny that address to connections: only the operator can have the gateway ask it.
 */
import { type AwsEnvironment, variableOf } from '../../../base/aws-environment.js';
import { withDeadline } from '../../../base/deadline.js';
import type { EndSignal } from '../../../base/ending.js';
import { type ErrorCode, GatewayError, type RemoteReply } from '../../../base/errors.js';
import { shortRequest, TooLong } from '../../../base/short-request.js';
import { parsed, valueIn } from '../../../connections/secrets/ask.js';
import { USER_AGENT } from './bounded-handler.js';
import type { TemporaryKeys } from './credentials.js';
import { namedFile } from './named-file.js';

const EC2 = 'http://169.254.169.254';
const EC2_ENDPOINT = 'AWS_EC2_METADATA_SERVICE_ENDPOINT';
const ROLES = '/latest/meta-data/iam/security-credentials/';
/** One token serves the requests of one renewal. */
const TOKEN_SECONDS = '60';
const ROLE_NAME = /^[A-Za-z0-9_+=,.@-]{1,64}$/;

const ECS = 'http://169.254.170.2';
const FULL_URI = 'AWS_CONTAINER_CREDENTIALS_FULL_URI';
const RELATIVE_URI = 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI';
const TOKEN = 'AWS_CONTAINER_AUTHORIZATION_TOKEN';
/** Elsewhere, the token would travel in the clear. */
const CLEAR_HOSTS = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;

export const MAX_ANSWER_BYTES = 64 * 1024;
/** What a header can have. */
const PRINTABLE = /^[!-~](?:[ -~]*[!-~])?$/;

interface Question {
  readonly method?: 'GET' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
}

type Ask = (url: URL, question?: Question) => Promise<Answer>;

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Resolves with keys that are valid now. @throws GatewayError login_refused (a variable is wrong, or there is no role),
 * unreachable, connect_timeout, remote_failure, protocol_error
 */
export async function instanceKeys(env: AwsEnvironment, timeoutMs: number): Promise<TemporaryKeys> {
  const isContainer = (variableOf(env, RELATIVE_URI) ?? variableOf(env, FULL_URI)) !== undefined;
  const hint = isContainer
    ? ''
    : '; in a container on EC2, the instance must allow it two hops (HttpPutResponseHopLimit)';
  const late = (): GatewayError =>
    failure('connect_timeout', `the metadata service issued no keys within ${timeoutMs} ms${hint}`);
  return withDeadline({ ms: timeoutMs, late }, (limit) => {
    const ask: Ask = (url, question = {}) => answerOf(url, question, limit);
    return isContainer ? containerKeys(env, ask) : machineKeys(env, ask);
  });
}

/** Asks only the second version of the service (IMDSv2). The first one answers every request, even a forwarded one. */
async function machineKeys(env: AwsEnvironment, ask: Ask): Promise<TemporaryKeys> {
  const base = urlIn(variableOf(env, EC2_ENDPOINT) ?? EC2, EC2_ENDPOINT);
  const lifetime = { 'x-aws-ec2-metadata-token-ttl-seconds': TOKEN_SECONDS };
  const token = wordIn(await ask(new URL('/latest/api/token', base), { method: 'PUT', headers: lifetime }), PRINTABLE);
  const headers = { 'x-aws-ec2-metadata-token': token };
  const roles = await ask(new URL(ROLES, base), { headers });
  if (roles.status === 404 || (roles.status === 200 && roles.text.trim() === '')) {
    throw failure('login_refused', 'the machine that the gateway runs on has no role (instance profile)');
  }
  const role = wordIn({ ...roles, text: roles.text.split('\n')[0] ?? '' }, ROLE_NAME);
  return keysIn(await ask(new URL(ROLES + role, base), { headers }), `the role ${role} of this machine`);
}

async function containerKeys(env: AwsEnvironment, ask: Ask): Promise<TemporaryKeys> {
  const relative = variableOf(env, RELATIVE_URI);
  if (relative?.startsWith('/') === false) throw failure('login_refused', `${RELATIVE_URI} does not begin with /`);
  const url =
    relative === undefined ? urlIn(variableOf(env, FULL_URI) ?? '', FULL_URI) : urlIn(ECS + relative, RELATIVE_URI);
  if (url.protocol !== 'https:' && !CLEAR_HOSTS.test(url.hostname)) {
    throw failure('login_refused', `${FULL_URI} is neither https nor an address of this machine, of ECS or of EKS`);
  }
  const token = await authorizationIn(env);
  const answer = await ask(url, { headers: token === undefined ? {} : { authorization: token } });
  return keysIn(answer, 'the role of this container');
}

/** The file changes from time to time. */
async function authorizationIn(env: AwsEnvironment): Promise<string | undefined> {
  const isInFile = variableOf(env, `${TOKEN}_FILE`) !== undefined;
  const token = isInFile ? await namedFile(env, `${TOKEN}_FILE`) : variableOf(env, TOKEN)?.trim();
  if (token === undefined || PRINTABLE.test(token)) return token;
  throw failure(
    'login_refused',
    `the token of ${TOKEN}${isInFile ? '_FILE' : ''} has characters that no header can have`,
  );
}

function urlIn(value: string, name: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw failure('login_refused', `the environment variable ${name} is no http or https URL`);
}

async function answerOf(url: URL, { method = 'GET', headers = {} }: Question, limit: EndSignal): Promise<Answer> {
  try {
    return await shortRequest(url, {
      method,
      headers: { ...headers, 'user-agent': USER_AGENT },
      maxAnswerBytes: MAX_ANSWER_BYTES,
      limit,
    });
  } catch (error) {
    if (error instanceof TooLong) throw noKeys();
    const code = valueIn(error, 'code');
    const reason = typeof code === 'string' ? ` (${code})` : '';
    throw failure('unreachable', `the metadata service at ${url.host} cannot be reached${reason}`, error);
  }
}

/** The text of a good answer. */
function textIn({ status, text }: Answer): string {
  if (status === 200) return text;
  const words = `the metadata service answered ${status}`;
  throw failure(status >= 500 || status === 429 ? 'remote_failure' : 'login_refused', words);
}

function wordIn(answer: Answer, form: RegExp): string {
  const word = textIn(answer).trim();
  if (form.test(word)) return word;
  throw noKeys();
}

function keysIn(answer: Answer, holder: string): TemporaryKeys {
  const json = parsed(textIn(answer));
  const [code, message] = [valueIn(json, 'Code'), valueIn(json, 'Message')];
  // The service answers 200 also if the machine may not have its role.
  if (typeof code === 'string' && code !== 'Success') {
    const remote = { code, text: typeof message === 'string' ? message : code };
    throw failure('login_refused', `the metadata service has no keys of ${holder}`, undefined, remote);
  }
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    'AccessKeyId',
    'SecretAccessKey',
    'Token',
    'Expiration',
  ].map((name) => {
    const value = valueIn(json, name);
    return typeof value === 'string' && PRINTABLE.test(value) ? value : undefined;
  });
  const expiresAt = Date.parse(expiration ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || sessionToken === undefined) throw noKeys();
  if (Number.isNaN(expiresAt)) throw noKeys();
  if (expiresAt <= Date.now()) throw failure('remote_failure', 'the metadata service issued keys that have expired');
  return { accessKeyId, secretAccessKey, sessionToken, expiresAt, holder };
}

function noKeys(): GatewayError {
  return failure('protocol_error', 'the metadata service sent an answer that has no keys');
}

function failure(code: ErrorCode, text: string, cause?: unknown, remote?: RemoteReply): GatewayError {
  return new GatewayError(code, text, { step: 'login', cause, remote });
}
