/** What the tools need of a gateway, with the key that it is opened with. */
import type { FileTransferGateway } from '../client/index.js';
import { errorOf, networkError } from '../client/errors.js';

export interface McpGateway {
  readonly url: string;
  readonly files: FileTransferGateway;
  /** One request as it is, answer and all. */
  readonly call: (path: string, init: RequestInit) => Promise<Response>;
}

export const SCOPES = ['read', 'write', 'exec', 'watch', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** @throws FtgError where the key is not good */
export async function scopesOf({ files }: McpGateway): Promise<ReadonlySet<string>> {
  const { scopes } = await files.me();
  return new Set(scopes);
}

/** The same, with one request and no retry. @throws FtgError */
export async function scopesNow({ call }: McpGateway): Promise<ReadonlySet<string>> {
  const response = await call('/api/me', {}).catch((error: unknown) => {
    throw networkError(error);
  });
  if (!response.ok) throw await errorOf(response);
  return new Set(((await response.json()) as { readonly scopes: readonly string[] }).scopes);
}
