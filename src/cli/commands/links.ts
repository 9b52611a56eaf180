/** `ftg link`: URLs that need no key and do one thing. */
import { accessKeyIn, variableOf } from '../../base/aws-environment.js';
import { presignedUrl, uriEncoded } from '../../base/aws-signature.js';
import type { Link } from '../../client/index.js';
import { linkFields } from '../../contract/link.js';
import { UsageError } from '../exit-codes.js';
import { type Arguments, type Session, shows } from '../command.js';
import { givenFieldsOf } from '../field-options.js';
import { parseLocation } from '../location.js';
import { bytesText, fields, listed, placeText, timeText } from '../output.js';

const WEEK_SECONDS = 7 * 86_400;

interface LinkOptions {
  /** In seconds. */
  readonly expires?: number;
  /** A presigned URL, made here. */
  readonly s3?: boolean;
  readonly s3Endpoint?: string;
}

interface PresignedPlace {
  readonly endpoint: string;
  readonly connectionId: string;
  readonly path: string;
  readonly expires: number;
}

/** @throws UsageError */
function presigned(operation: string, { endpoint, connectionId, path, expires }: PresignedPlace): string {
  const key = path.replace(/^\/+/, '');
  if (key === '' || key.endsWith('/'))
    throw new UsageError('a presigned URL is for one file: name it, as connection:/folder/file');
  if (expires > WEEK_SECONDS) throw new UsageError('a presigned URL lives for at most 7d');
  const encoded = [connectionId, ...key.split('/')].map(uriEncoded).join('/');
  const url = new URL(`${endpoint.replace(/\/+$/, '')}/${encoded}`);
  const keys = accessKeyIn(process.env, (name) => new UsageError(`${name} is not set: it signs the URL`));
  const region = variableOf(process.env, 'AWS_REGION') ?? 'us-east-1';
  const method = operation === 'upload' ? 'PUT' : 'GET';
  return presignedUrl({ method, url, expiresSeconds: expires, time: Date.now(), region }, keys);
}

/** Prints only the URL, so that scripts can read it. */
export async function createLink(
  { gateway, out, signal }: Session,
  [operation = '', place = '']: Arguments,
  { expires = WEEK_SECONDS, s3 = false, s3Endpoint = `${gateway.url}/s3`, ...options }: LinkOptions,
): Promise<void> {
  const { connectionId, path } = parseLocation(place);
  if (s3) {
    const url = presigned(operation, { endpoint: s3Endpoint, connectionId, path, expires });
    out.note(`Anyone who has this URL can use it for ${expires} seconds. Only the end of its API key ends it earlier.`);
    return out.show({ url }, () => url);
  }
  const link = await gateway.files.links.create(
    {
      operation: operation as Link['operation'],
      connectionId,
      // Without a path: the default folder of the connection.
      path: path === '' ? '.' : path,
      expiresAt: new Date(Date.now() + expires * 1_000).toISOString(),
      ...givenFieldsOf(linkFields, options),
    },
    { signal },
  );
  out.note(`Anyone who has this URL can use it until ${timeText(link.expiresAt)}. It is shown only once.`);
  out.show({ link }, () => link.url);
}

export const listLinks = shows(
  async ({ gateway, signal }) => {
    const links: Link[] = [];
    for await (const link of gateway.files.links.list({ signal })) links.push(link);
    return { links };
  },
  ({ links }) =>
    listed(
      links,
      {
        ID: 'id',
        DOES: 'operation',
        PLACE: placeText,
        USES: ({ uses, maxUses }) => (maxUses === null ? uses : `${uses} of ${maxUses}`),
        MOST: ({ maxBytes }) => (maxBytes === null ? null : bytesText(maxBytes)),
        EXPIRES: 'expiresAt',
        STATE: 'state',
      },
      'no links',
    ),
);

export const showLink = shows(
  async ({ gateway, signal }, [id = '']) => ({ link: await gateway.files.links.get(id, { signal }) }),
  ({ link }) => fields(link),
);

export const revokeLink = shows(
  async ({ gateway, signal }, [id = '']) => ({ link: await gateway.files.links.revoke(id, { signal }) }),
  ({ link }, id) => `${id} is ${link.state}`,
);
