/**
 * Only the second version of the metadata service of EC2, and that of containers: tokens expire, and a request without
 * one is refused.
 */
import type http from 'node:http';
import { HttpStub } from './http-stub.js';

interface MetadataAnswer {
  readonly status: number;
  readonly body: string | Buffer;
}

interface IssuedKeys {
  readonly AccessKeyId: string;
  readonly SecretAccessKey: string;
  readonly Token: string;
}

export class MetadataStub extends HttpStub {
  /** `method path` of each request. */
  readonly requests: string[] = [];
  readonly issued: IssuedKeys[] = [];
  role = 'gateway';
  lifetimeMs = 3_600_000;
  /** What a container must send. */
  authorization = 'Bearer of-the-container';
  /** Issued in place of made-up keys. */
  keys: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Answers in place of the stub. */
  instead: ((asked: string) => MetadataAnswer | 'cut' | 'never' | undefined) | undefined;
  readonly #tokens = new Map<string, number>();

  static start(): Promise<MetadataStub> {
    return new MetadataStub().listen();
  }

  protected async serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const asked = `${request.method ?? ''} ${request.url ?? ''}`;
    this.requests.push(asked);
    const instead = this.instead?.(asked);
    if (instead === 'never') return;
    if (instead === 'cut') return void request.socket.destroy();
    const { status, body } = instead ?? this.#answer(asked, request.headers);
    response.writeHead(status).end(body);
  }

  #answer(asked: string, headers: http.IncomingHttpHeaders): MetadataAnswer {
    if (asked === 'PUT /latest/api/token') {
      const seconds = Number(headers['x-aws-ec2-metadata-token-ttl-seconds']);
      if (!(seconds >= 1 && seconds <= 21_600)) return { status: 400, body: 'no lifetime' };
      const token = `token-${this.#tokens.size + 1}==`;
      this.#tokens.set(token, Date.now() + seconds * 1000);
      return { status: 200, body: token };
    }
    if (asked === 'GET /v2/credentials/container') {
      return headers.authorization === this.authorization ? this.#issue() : { status: 401, body: '{}' };
    }
    const expiresAt = this.#tokens.get(String(headers['x-aws-ec2-metadata-token'])) ?? 0;
    if (expiresAt <= Date.now()) return { status: 401, body: 'Unauthorized' };
    const roles = 'GET /latest/meta-data/iam/security-credentials/';
    if (asked === roles) return { status: 200, body: this.role };
    return asked === roles + this.role ? this.#issue() : { status: 404, body: '<html>' };
  }

  #issue(): MetadataAnswer {
    const number = this.issued.length + 1;
    const keys: IssuedKeys = {
      AccessKeyId: this.keys?.accessKeyId ?? `ASIAMETA${number}`,
      SecretAccessKey: this.keys?.secretAccessKey ?? `metasecret/${number}`,
      Token: `metatoken-${number}`,
    };
    this.issued.push(keys);
    const Expiration = new Date(Date.now() + this.lifetimeMs).toISOString();
    return { status: 200, body: JSON.stringify({ Code: 'Success', Type: 'AWS-HMAC', ...keys, Expiration }) };
  }
}
