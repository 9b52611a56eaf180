import { SignatureV4 } from '@smithy/signature-v4';
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { text as textOf } from 'node:stream/consumers';
import { after, before, beforeEach, test } from 'node:test';
import { GatewayError } from '../../../src/base/errors.js';
import { createSecretReader } from '../../../src/connections/secrets/read-secret.js';
import { NO_STORES, send, serve, type Store } from './support/stores.js';

const REGION = 'eu-central-1';
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'the-key-of-the-gateway' };

/** What a signature must cover. */
const SIGNED = ['content-type', 'host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-target'];

/** The SDK's digests take one of these. */
class Sha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    const key = typeof secret === 'string' ? secret : secret && new Uint8Array(secret as ArrayBuffer);
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key);
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    throw new Error('a digest is used once');
  }
}

let manager: Store;
const secrets = new Map<string, object>();
/** The type of the error of every answer; "" = none. */
let refusal = '';
let bodies: string[] = [];

/** Secrets Manager, which checks the signature with the SDK's signer. */
before(async () => {
  manager = await serve(async (request, response) => {
    const body = await textOf(request);
    bodies.push(body);
    const { authorization = '', ...headers } = request.headers;
    const { host = '', 'x-amz-date': date = '' } = headers;
    const [, year, month, day, hour, minute, second] = /^(....)(..)(..)T(..)(..)(..)Z$/.exec(String(date)) ?? [];
    const names = (/SignedHeaders=([^,]+)/.exec(authorization)?.[1] ?? '').split(';');
    const sent = names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])] as const]));
    const sessionToken = headers['x-amz-security-token'];
    const signer = new SignatureV4({
      service: 'secretsmanager',
      region: REGION,
      credentials: {
        accessKeyId: KEYS.AWS_ACCESS_KEY_ID,
        secretAccessKey: KEYS.AWS_SECRET_ACCESS_KEY,
        ...(typeof sessionToken === 'string' ? { sessionToken } : {}),
      },
      sha256: Sha256,
      applyChecksum: false,
    });
    const question = {
      method: 'POST',
      protocol: 'http:',
      hostname: host,
      path: '/',
      headers: Object.fromEntries(sent),
      body,
    };
    const signingDate = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    const { headers: expected } = await signer.sign(question, { signingDate });
    const digest = createHash('sha256').update(body).digest('hex');
    const isWhole = SIGNED.every((name) => names.includes(name)) && headers['x-amz-content-sha256'] === digest;
    if (!isWhole || authorization !== expected['authorization']) {
      return send(response, 400, { __type: 'InvalidSignatureException', message: authorization });
    }
    if (refusal !== '') return send(response, 400, { __type: refusal });
    const { SecretId } = JSON.parse(body) as { SecretId: string };
    const secret = secrets.get(SecretId);
    if (secret === undefined) return send(response, 400, { __type: 'ResourceNotFoundException' });
    send(response, 200, { Name: SecretId, ...secret });
  });
});
after(() => manager.stop());
beforeEach(() => {
  refusal = '';
  bodies = [];
  secrets.clear();
  secrets.set('acme/sftp', { SecretString: JSON.stringify({ password: 'hunter2', port: 22 }) });
});

function read(reference: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const reader = createSecretReader(
    { ...NO_STORES, aws: { region: REGION } },
    { ...KEYS, AWS_ENDPOINT_URL_SECRETS_MANAGER: manager.url, ...env },
  );
  return reader(reference);
}

async function problemOf(reference: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  try {
    await read(reference, env);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, 'login_refused');
    assert.doesNotMatch(error.clientText, /hunter2|the-key-of/);
    return error.clientText;
  }
  throw new Error(`${reference} was read`);
}

test('a field of a secret is read with a signed request', async () => {
  assert.equal(await read('aws:acme/sftp#password'), 'hunter2');
  assert.deepEqual(bodies, ['{"SecretId":"acme/sftp"}']);
});

test('temporary credentials send their token, which is signed', async () => {
  assert.equal(await read('aws:acme/sftp#password', { AWS_SESSION_TOKEN: 'token/+=' }), 'hunter2');
});

test('without a field the secret is the whole text, or the bytes; an ARN is a name, too', async () => {
  const arn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:key-AbCdEf';
  secrets.set(arn, { SecretString: 'line one\nline two\n' });
  secrets.set('bytes', { SecretBinary: Buffer.from('of bytes').toString('base64') });
  assert.equal(await read(`aws:${arn}`), 'line one\nline two\n');
  assert.equal(await read('aws:bytes'), 'of bytes');
});

test('what cannot be read is said in words that follow the reference', async () => {
  secrets.set('plain', { SecretString: 'no JSON' });
  secrets.set('none', {});
  assert.equal(await problemOf('aws:other'), 'does not exist');
  assert.equal(await problemOf('aws:acme/sftp#absent'), 'has no value named absent');
  assert.equal(await problemOf('aws:acme/sftp#port'), 'has a value that is no text named port');
  assert.equal(await problemOf('aws:plain#password'), 'is no JSON object, so it has no fields');
  assert.equal(await problemOf('aws:none'), 'has no value named SecretString');
  assert.equal(
    await problemOf('aws:acme/sftp', { AWS_SECRET_ACCESS_KEY: 'another' }),
    'cannot be read: AWS does not accept the secret access key of the gateway',
  );
  for (const name of Object.keys(KEYS)) {
    assert.equal(
      await problemOf('aws:acme/sftp', { [name]: '' }),
      `cannot be read: the environment variable ${name} is not set`,
    );
  }
  refusal = 'com.amazonaws.secretsmanager#AccessDeniedException';
  assert.equal(await problemOf('aws:acme/sftp'), 'may not be read with the access key of the gateway');
  refusal = 'ThrottlingException';
  assert.equal(await problemOf('aws:acme/sftp'), 'cannot be read: AWS answered 400 ThrottlingException');
  assert.match(
    await problemOf('aws:acme/sftp', { AWS_ENDPOINT_URL_SECRETS_MANAGER: 'nowhere' }),
    /AWS_ENDPOINT_URL_SECRETS_MANAGER is no URL$/,
  );
});
