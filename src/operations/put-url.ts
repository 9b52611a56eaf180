/** A url upload: the bytes from the url's server are passed on to the remote as they arrive. */
import type { Readable } from 'node:stream';
import { GatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { baseName } from '../remotes/path.js';
import type { FileInfo } from '../remotes/remote.js';
import { find } from './conflicts.js';
import type { UrlFetcher } from './fetch-url.js';
import { type TemplateFacts, templateFacts } from './names.js';
import type { Operation, Operations } from './operation.js';
import { waitsForLimit } from './pump.js';
import { placeOf, putFile, type PutTarget } from './put.js';
import { holdsBytes, isDatedAs } from './same-bytes.js';

interface PutUrlRequest {
  readonly connection: Connection;
  readonly urls: Pick<UrlFetcher, 'fetch'>;
  readonly url: URL;
  /** People other than the caller will read its errors. */
  readonly isSecret?: boolean;
  /** The target of the file; `offered` is the name in the url, or from its server. */
  readonly targetOf: (offered: string | undefined) => PutTarget;
  /** 0 = no limit. */
  readonly maxBytes: number;
  readonly facts?: TemplateFacts;
  readonly readsBack?: boolean | undefined;
  /** An earlier try ended without a known result: an existing file is compared, and kept if it is equal. */
  readonly mayStand?: boolean;
}

/** Errors: those of `fetch`, of `targetOf` and of `putFile`. */
export async function putUrl(
  operations: Operations,
  operation: Operation,
  {
    connection,
    urls,
    url,
    isSecret = false,
    targetOf,
    maxBytes,
    facts = templateFacts(),
    mayStand = false,
    readsBack,
  }: PutUrlRequest,
): Promise<FileInfo> {
  operation.mark('fetch');
  const asked = { owner: connection.accountId, signal: operation.signal, isSecret };
  const fetched = await urls.fetch(url, asked, operation.span.headers);
  const { body, size, filename, host, proof } = fetched;
  operation.evidence.fetchedFrom(host, proof);
  // Like a client, the url's server must not hold a session that others wait for. Once it has sent all, it does not.
  const stopWatching = operation.paces.watch(
    'source',
    () => body.readableLength === 0 && !body.readableEnded && !waitsForLimit(body),
    fetched.received,
  );
  try {
    const target = targetOf(filename);
    const existing = mayStand ? await existingAt(operation, target, facts, { body, size }) : undefined;
    if (existing !== undefined) return existing;
    return await putFile(operations, operation, { connection, target, body, size, maxBytes, facts, readsBack });
  } finally {
    stopWatching();
    body.destroy();
  }
}

/**
 * undefined: no file exists there, and nothing of the body is read. @throws GatewayError already_exists if another file
 * does
 */
function existingAt(
  operation: Operation,
  target: PutTarget,
  facts: TemplateFacts,
  { body, size }: { readonly body: Readable; readonly size: number | undefined },
): Promise<FileInfo | undefined> {
  return operation.use(async (remote, attempt) => {
    const place = await placeOf(remote, target, facts);
    operation.locate(place, baseName(place));
    const found = await find(remote, place);
    if (found === undefined || found.isDirectory) return undefined;
    attempt.committed();
    operation.mark('verify');
    const maySame = (size === undefined || size === found.size) && isDatedAs(found, target.modifiedAt, remote);
    if (!maySame || !(await holdsBytes(remote, place, body, operation.evidence.hashing()))) {
      throw new GatewayError('already_exists', `${place} exists and overwrite is false`, { step: 'open' });
    }
    operation.evidence.readBack();
    operation.fileSize = found.size;
    return found;
  });
}
