/** Both APIs of one gateway, opened with what the profile has: an API key, or a login session. */
import { FileTransferGateway } from '../client/index.js';
import { Management } from './management.js';
import type { Profile, SessionCredentials } from './profiles.js';

export interface Gateway {
  readonly url: string;
  readonly files: FileTransferGateway;
  readonly manage: Management;
  /** One request as it is, answer and all; never made again. */
  readonly call: (path: string, init: RequestInit) => Promise<Response>;
}

export function openGateway({ url, key, session }: Profile, signal: AbortSignal): Gateway {
  const authorized = session === undefined ? fetch : withSession(session);
  const options = { baseUrl: url, apiKey: key ?? '', fetch: authorized };
  return {
    url,
    files: new FileTransferGateway(options),
    manage: new Management(options, signal),
    call: (path, init) => {
      const headers = new Headers(init.headers);
      headers.set('Authorization', `Bearer ${key ?? ''}`);
      return authorized(url + path, { ...init, headers, signal });
    },
  };
}

/** In place of the bearer, which would count before the cookie. */
function withSession({ cookie, csrfToken }: SessionCredentials): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete('Authorization');
    headers.set('Cookie', cookie);
    headers.set('X-CSRF-Token', csrfToken);
    return fetch(input, { ...init, headers });
  };
}
