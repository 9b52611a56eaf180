import { readFile } from 'node:fs/promises';
import type postgres from 'postgres';
import { StartupError } from '../startup.js';

/** The address of a database for the driver, and its label for messages, without the password. */
export interface DatabaseTarget {
  readonly label: string;
  readonly options: postgres.Options<Record<string, never>>;
  /** The connection string without the parts in `options`; undefined if `options` has everything. */
  readonly url: string | undefined;
}

/**
 * Reads `database.url`: postgres://user:password@host:port/name. Besides the driver's own parameters it accepts two of
 * libpq's: `host=/folder` for a Unix socket and `sslrootcert=file`. Several hosts are refused, in both forms of libpq:
 * all connections must lead to one server.
 */
export async function parseDatabaseUrl(text: string): Promise<DatabaseTarget> {
  if (hasSeveralHosts(text)) {
    throw new StartupError(
      'database.url: several hosts; allowed: one, such as a name or an address that follows the server that takes writes',
    );
  }
  const url = tryUrl(text);
  if (url === undefined) {
    throw new StartupError('database.url: not a connection string; allowed: postgres://user:password@host:port/name');
  }
  const socketFolder = url.searchParams.get('host') ?? '';
  const rootCert = url.searchParams.get('sslrootcert') ?? 'system';
  url.searchParams.delete('host');
  const options: { -readonly [K in keyof DatabaseTarget['options']]: DatabaseTarget['options'][K] } = {};
  if (rootCert !== 'system') {
    url.searchParams.delete('sslrootcert');
    options.ssl = { ca: await readRootCert(rootCert), rejectUnauthorized: true };
  }
  const port = url.port === '' ? 5432 : Number(url.port);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (socketFolder === '') return { label: `${url.host} (database ${database})`, options, url: url.href };
  // The driver needs a host in the string even if a socket is used.
  if (url.hostname === '') url.hostname = 'localhost';
  options.path = `${socketFolder}/.s.PGSQL.${port}`;
  return { label: `${options.path} (database ${database})`, options, url: url.href };
}

function hasSeveralHosts(text: string): boolean {
  const [, authority = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)/.exec(text) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const query = new URLSearchParams(text.split('#')[0]?.split('?').slice(1).join('?'));
  return host.includes(',') || (query.get('host') ?? '').includes(',') || (query.get('port') ?? '').includes(',');
}

function tryUrl(text: string): URL | undefined {
  try {
    const url = new URL(text);
    return url.protocol === 'postgres:' || url.protocol === 'postgresql:' ? url : undefined;
  } catch {
    return undefined;
  }
}

async function readRootCert(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new StartupError(`database.url: the sslrootcert file ${file} cannot be read`);
  }
}
