/** Secrets of AWS Secrets Manager. */
import { type StoreAnswer, ask, parsed, textIn, valueIn } from './ask.js';
import { accessKeyIn, type AwsEnvironment } from '../../base/aws-environment.js';
import { type Keys, RequestSigner } from '../../base/aws-signature.js';
import { unreadable } from './unreadable.js';

export interface AwsSettings {
  readonly region: string;
}

const SERVICE = 'secretsmanager';

const PROBLEMS: Readonly<Record<string, string>> = {
  ResourceNotFoundException: 'does not exist',
  AccessDeniedException: 'may not be read with the access key of the gateway',
  UnrecognizedClientException: 'cannot be read: AWS does not know the access key of the gateway',
  InvalidSignatureException: 'cannot be read: AWS does not accept the secret access key of the gateway',
  ExpiredTokenException: 'cannot be read: the session token of the gateway has expired',
  InvalidRequestException: 'is being deleted',
};

/** Reads secrets by name or ARN. */
export class AwsSecrets {
  readonly #region: string;
  readonly #env: AwsEnvironment;
  readonly #signer = new RequestSigner();

  constructor({ region }: AwsSettings, env: AwsEnvironment) {
    this.#region = region;
    this.#env = env;
  }

  /** The field of a secret that is a JSON object; with "" the whole secret. @throws GatewayError login_refused */
  async read(id: string, field: string): Promise<string> {
    const url = this.#url();
    const body = JSON.stringify({ SecretId: id });
    const answer = await ask(url, { method: 'POST', headers: this.#signed(url, body), body });
    if (answer.status !== 200) throw refused(answer);
    const text = secretIn(answer.json);
    if (field === '') return text;
    const fields = parsed(text);
    if (typeof fields !== 'object' || fields === null) throw unreadable('is no JSON object, so it has no fields');
    return textIn(fields, field);
  }

  #signed(url: URL, body: string): Readonly<Record<string, string>> {
    const request = {
      method: 'POST',
      host: url.host,
      path: url.pathname,
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `${SERVICE}.GetSecretValue` },
      body: Buffer.from(body),
      time: Date.now(),
      region: this.#region,
      service: SERVICE,
    };
    return this.#signer.sign(request, this.#credentials());
  }

  #url(): URL {
    const own = this.#env['AWS_ENDPOINT_URL_SECRETS_MANAGER'] ?? '';
    if (own !== '' && !URL.canParse(own)) {
      throw unreadable('cannot be read: AWS_ENDPOINT_URL_SECRETS_MANAGER is no URL');
    }
    const domain = this.#region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    return new URL('/', own === '' ? `https://secretsmanager.${this.#region}.${domain}` : own);
  }

  #credentials(): Keys {
    return accessKeyIn(this.#env, (name) => unreadable(`cannot be read: the environment variable ${name} is not set`));
  }
}

function secretIn(json: unknown): string {
  const binary = valueIn(json, 'SecretBinary');
  return typeof binary === 'string' ? Buffer.from(binary, 'base64').toString() : textIn(json, 'SecretString');
}

/** AWS names the error in `__type`, with or without a namespace. */
function refused({ status, json }: StoreAnswer): Error {
  const named = valueIn(json, '__type');
  const type = (typeof named === 'string' ? /\w+$/.exec(named)?.[0] : undefined) ?? '';
  return unreadable(PROBLEMS[type] ?? `cannot be read: AWS answered ${status}${type === '' ? '' : ` ${type}`}`);
}
