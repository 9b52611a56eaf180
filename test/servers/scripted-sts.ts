/**
 * A small security token service: it verifies the signature of AssumeRole, or the token of AssumeRoleWithWebIdentity, and
 * answers as AWS documents it.
 */
import { createHash, createHmac } from 'node:crypto';
import type http from 'node:http';
import { text } from 'node:stream/consumers';
import { HttpStub } from './http-stub.js';

export interface Issued {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

interface StsAnswer {
  readonly status: number;
  readonly body: string;
}

const sha256 = (bytes: string): string => createHash('sha256').update(bytes).digest('hex');

export class StsStub extends HttpStub {
  /** The parameters of each request. */
  readonly requests: URLSearchParams[] = [];
  readonly issued: Issued[] = [];
  lifetimeMs = 3_600_000;
  /** Tokens that identify their owners. */
  readonly webTokens = new Set<string>();
  /** Access keys that may ask, with their secrets, besides those that are issued here. */
  readonly secrets = new Map<string, string>();
  /** Issued in place of made-up keys. */
  keys: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Answers in place of the stub. */
  instead: (() => StsAnswer | 'cut' | 'never') | undefined;

  private constructor(secrets: Readonly<Record<string, string>>) {
    super();
    for (const [id, secret] of Object.entries(secrets)) this.secrets.set(id, secret);
  }

  /** `secrets`: of each access key that may ask. */
  static start(secrets: Readonly<Record<string, string>>): Promise<StsStub> {
    return new StsStub(secrets).listen();
  }

  protected async serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const body = await text(request);
    const asked = new URLSearchParams(body);
    this.requests.push(asked);
    const instead = this.instead?.();
    if (instead === 'never') return;
    if (instead === 'cut') return void request.socket.destroy();
    const { status, body: answer } = instead ?? this.#answer(request, body, asked);
    response.writeHead(status, { 'content-type': 'text/xml' }).end(answer);
  }

  #answer(request: http.IncomingMessage, body: string, asked: URLSearchParams): StsAnswer {
    const action = asked.get('Action');
    const isByToken = action === 'AssumeRoleWithWebIdentity';
    if (isByToken && !this.webTokens.has(asked.get('WebIdentityToken') ?? '')) {
      return stsError(400, 'InvalidIdentityToken', 'No OpenIDConnect provider found in your account');
    }
    if (!isByToken && !this.#isSigned(request, body)) {
      return stsError(403, 'SignatureDoesNotMatch', 'The signature does not match');
    }
    if (!(isByToken || action === 'AssumeRole') || asked.get('Version') !== '2011-06-15') {
      return stsError(400, 'InvalidAction', 'Could not find the operation');
    }
    const number = this.issued.length + 1;
    const keys = {
      accessKeyId: this.keys?.accessKeyId ?? `ASIA${number}`,
      secretAccessKey: this.keys?.secretAccessKey ?? `secret/${number}+x`,
      sessionToken: `token-${number}-&-<more>`,
    };
    this.issued.push(keys);
    const expiration = new Date(Date.now() + this.lifetimeMs).toISOString();
    const token = keys.sessionToken.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return {
      status: 200,
      body: `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <${action}Result>
    <SourceIdentity>Alice</SourceIdentity>
    <AssumedRoleUser><Arn>${asked.get('RoleArn')}</Arn><AssumedRoleId>ARO:x</AssumedRoleId></AssumedRoleUser>
    <Credentials>
      <AccessKeyId>${keys.accessKeyId}</AccessKeyId>
      <SecretAccessKey>${keys.secretAccessKey}</SecretAccessKey>
      <SessionToken>
        ${token}
      </SessionToken>
      <Expiration>${expiration}</Expiration>
    </Credentials>
    <PackedPolicySize>6</PackedPolicySize>
  </${action}Result>
  <ResponseMetadata><RequestId>c6104cbe</RequestId></ResponseMetadata>
</${action}Response>`,
    };
  }

  #isSigned({ method, url, headers }: http.IncomingMessage, body: string): boolean {
    const form =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/[^/]+\/sts\/aws4_request), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
    const [, id = '', scope = '', names = '', signature] = form.exec(headers.authorization ?? '') ?? [];
    const own = this.issued.find(({ accessKeyId }) => accessKeyId === id)?.secretAccessKey;
    const secret = this.secrets.get(id) ?? own;
    if (secret === undefined) return false;
    const lines = names.split(';').map((name) => `${name}:${String(headers[name])}\n`);
    const request = [method, url, '', lines.join(''), names, sha256(body)].join('\n');
    const wanted = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(request)].join('\n');
    const key = scope
      .split('/')
      .reduce((from, part) => createHmac('sha256', from).update(part).digest(), Buffer.from(`AWS4${secret}`));
    return createHmac('sha256', key).update(wanted).digest('hex') === signature;
  }
}

export function stsError(status: number, code: string, message: string): StsAnswer {
  return {
    status,
    body: `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
  };
}
