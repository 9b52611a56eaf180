/** A url upload: what its server sends goes on to the remote as it comes. */
import type { Connection } from '../connections/connection.js';
import type { FileInfo } from '../remotes/remote.js';
import type { UrlFetcher } from './fetch-url.js';
import type { TemplateFacts } from './names.js';
import type { Operation, Operations } from './operation.js';
import { putFile, type Target } from './put.js';

export interface PutUrlRequest {
  readonly connection: Connection;
  readonly urls: Pick<UrlFetcher, 'fetch'>;
  readonly url: URL;
  /** Others than the caller will read its errors. */
  readonly isSecret?: boolean;
  /** Where it is to stand; `offered` is the name that the url has, or its server gives. */
  readonly targetOf: (offered: string | undefined) => Target;
  /** 0 = no limit. */
  readonly maxBytes: number;
  readonly facts?: TemplateFacts;
}

/** Errors: those of `fetch`, of `targetOf` and of `putFile`. */
export async function putUrl(
  operations: Operations,
  operation: Operation,
  { connection, urls, url, isSecret = false, targetOf, maxBytes, facts }: PutUrlRequest,
): Promise<FileInfo> {
  operation.mark('fetch');
  const asked = { owner: connection.accountId, signal: operation.signal, isSecret };
  const { body, size, filename } = await urls.fetch(url, asked, operation.span.headers);
  try {
    return await putFile(operations, operation, {
      ...{ connection, target: targetOf(filename), body, size, maxBytes, facts },
    });
  } finally {
    body.destroy();
  }
}
