/** Splits an address in the host field into the fields of the form. */
import type { Draft } from '../../ui/draft.ts';

interface Parts {
  readonly type: string;
  readonly values: Readonly<Record<string, string | boolean>>;
}

/** The protocol and defaults of each URL scheme. */
const SCHEMES: Readonly<Record<string, Parts>> = {
  'sftp:': { type: 'sftp', values: {} },
  'ssh:': { type: 'sftp', values: {} },
  'scp:': { type: 'sftp', values: {} },
  'ftp:': { type: 'ftp', values: {} },
  'ftpes:': { type: 'ftp', values: { tls: 'explicit' } },
  'ftps:': { type: 'ftp', values: { tls: 'implicit', port: '990' } },
};
const AWS = /^(?:(?<bucket>.+)\.)?s3[.-](?:dualstack\.)?(?<region>[a-z0-9-]+)\.amazonaws\.com$/;
const BARE = /^(?:(?<user>[^\s@/:]+)@)?(?<host>[^\s@/:]+|\[[\da-f:.]+\])(?::(?<port>\d{1,5}))?(?<path>\/\S*)?$/i;

/** The fields in an address; undefined if it is only a host. A stored connection keeps its type. */
export function takenApart(text: string, type: string, isKept: boolean): Draft | undefined {
  const parts = partsOf(text.trim(), type);
  if (parts === undefined || (isKept && parts.type !== type)) return undefined;
  return { ...parts.values, type: parts.type };
}

function partsOf(text: string, type: string): Parts | undefined {
  if (/^s3:\/\//i.test(text)) return bucketParts('', text.slice('s3://'.length));
  if (!text.includes('://')) return type === 's3' ? undefined : bareParts(text, type);
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol === 'https:' || url.protocol === 'http:') return storeParts(url);
  const scheme = SCHEMES[url.protocol];
  if (scheme === undefined || url.hostname === '') return undefined;
  const { hostname, port, username, password, pathname } = url;
  return {
    type: scheme.type,
    values: {
      ...scheme.values,
      ...loginParts({ host: hostname, port, user: username, path: pathname }),
      ...secret(password),
    },
  };
}

/** `user@host:22/path` without a scheme. */
function bareParts(text: string, type: string): Parts | undefined {
  const { host = '', port = '', user = '', path = '' } = BARE.exec(text)?.groups ?? {};
  if (host === '' || port + user + path === '') return undefined;
  return { type, values: loginParts({ host, port, user, path }) };
}

function loginParts(parts: Readonly<Record<'host' | 'port' | 'user' | 'path', string>>): Record<string, string> {
  const path = decoded(parts.path).replace(/(?<=.)\/+$/, '');
  return {
    host: decoded(parts.host).replace(/^\[(.*)\]$/, '$1'),
    ...(parts.port === '' ? {} : { port: parts.port }),
    ...(parts.user === '' ? {} : { username: decoded(parts.user) }),
    ...(path === '' || path === '/' ? {} : { rootPath: path }),
  };
}

function secret(password: string): Record<string, string> {
  return password === '' ? {} : { password: decoded(password) };
}

/** The address of an object store. The bucket is in its path, or at AWS in front of the host name. */
function storeParts({ origin, hostname, pathname }: URL): Parts | undefined {
  const { bucket, region } = AWS.exec(hostname)?.groups ?? {};
  if (region === undefined) return bucketParts(origin, pathname.slice(1));
  const parts = bucketParts('', bucket === undefined ? pathname.slice(1) : `${bucket}${pathname}`);
  return { ...parts, values: { ...parts.values, region } };
}

function bucketParts(endpoint: string, path: string): Parts {
  const [bucket = '', ...prefix] = decoded(path).split('/').filter(Boolean);
  return {
    type: 's3',
    values: {
      endpoint,
      ...(bucket === '' ? {} : { bucket }),
      ...(prefix.length === 0 ? {} : { prefix: `${prefix.join('/')}/` }),
    },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
