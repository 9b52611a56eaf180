/** The gateway's interface for the tools, opened with one key. */
import type { FileTransferGateway } from '../client/index.js';
import { errorOf, networkError } from '../client/errors.js';

export interface McpGateway {
  readonly url: string;
  readonly files: FileTransferGateway;
  /** Sends one request unchanged and returns its answer. */
  readonly call: (path: string, init: RequestInit) => Promise<Response>;
}

/** @throws FtgError if the key is not valid */
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
