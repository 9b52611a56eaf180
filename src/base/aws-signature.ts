/** Signature Version 4 (AWS, "Create a signed AWS API request"). */
import { createHmac, hash } from 'node:crypto';

/** What signs a request. */
export interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

interface Unsigned {
  readonly method: string;
  readonly host: string;
  /** Encoded, without the query. */
  readonly path: string;
  /** Encoded, its names in order; absent = none. */
  readonly query?: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly region: string;
  readonly service: string;
}

export class RequestSigner {
  /** Valid for a day. */
  #signingKey: { readonly keys: Keys; readonly scope: string; readonly key: Buffer } | undefined;

  /** The headers of the request, `host` and `authorization` among them, signed by these keys. */
  sign(
    { method, host, path, query = '', headers, body, time, region, service }: Unsigned,
    keys: Keys,
  ): Record<string, string> {
    const date = dateText(time);
    const digest = body === undefined ? EMPTY_DIGEST : hash('sha256', body, 'hex');
    const signed: Record<string, string> = { ...headers, host, 'x-amz-content-sha256': digest, 'x-amz-date': date };
    if (keys.sessionToken !== undefined) signed['x-amz-security-token'] = keys.sessionToken;
    const names = Object.keys(signed).sort();
    let lines = '';
    for (const name of names) lines += `${name}:${signed[name]?.replace(/ {2,}/g, ' ')}\n`;
    const request = `${method}\n${path}\n${query}\n${lines}\n${names.join(';')}\n${digest}`;
    const scope = `${date.slice(0, 8)}/${region}/${service}/aws4_request`;
    const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', request, 'hex')}`;
    const signature = createHmac('sha256', this.#keyFor(scope, keys)).update(text).digest('hex');
    signed['authorization'] =
      `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
    return signed;
  }

  #keyFor(scope: string, keys: Keys): Buffer {
    if (this.#signingKey?.scope !== scope || this.#signingKey.keys !== keys) {
      this.#signingKey = { keys, scope, key: signingKeyOf(scope, keys.secretAccessKey) };
    }
    return this.#signingKey.key;
  }
}

interface Presigned {
  readonly method: string;
  /** Its path is encoded. */
  readonly url: URL;
  /** At most a week. */
  readonly expiresSeconds: number;
  /** In milliseconds since 1970. */
  readonly time: number;
  readonly region: string;
}

/** A URL that allows one request to S3 until it expires (AWS, "Authenticating Requests: Using Query Parameters"). */
export function presignedUrl({ method, url, expiresSeconds, time, region }: Presigned, keys: Keys): string {
  const date = dateText(time);
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const parameters = {
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${keys.accessKeyId}/${scope}`,
    'X-Amz-Date': date,
    'X-Amz-Expires': String(expiresSeconds),
    'X-Amz-SignedHeaders': 'host',
  };
  const query = Object.entries(parameters)
    .map(([name, value]) => `${name}=${uriEncoded(value)}`)
    .join('&');
  const request = `${method}\n${url.pathname}\n${query}\nhost:${url.host}\n\nhost\nUNSIGNED-PAYLOAD`;
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', request, 'hex')}`;
  const signature = createHmac('sha256', signingKeyOf(scope, keys.secretAccessKey)).update(text).digest('hex');
  return `${url.origin}${url.pathname}?${query}&X-Amz-Signature=${signature}`;
}

/** Everything but the unreserved characters of RFC 3986, as signatures need it. */
export function uriEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

const dateText = (time: number): string => new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');

/** The key that signs requests of one day, region and service: `scope` names them. */
export function signingKeyOf(scope: string, secretAccessKey: string): Buffer {
  let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`);
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
  return key;
}

export const EMPTY_DIGEST = hash('sha256', '', 'hex');
