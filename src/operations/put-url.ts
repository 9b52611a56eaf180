/** A url upload: what its server sends goes on to the remote as it comes. */
import type { Readable } from 'node:stream';
import { GatewayError } from '../base/errors.js';
import type { Connection } from '../connections/connection.js';
import { baseName } from '../remotes/path.js';
import type { FileInfo } from '../remotes/remote.js';
import { find } from './conflicts.js';
import type { UrlFetcher } from './fetch-url.js';
import { type TemplateFacts, templateFacts } from './names.js';
import type { Operation, Operations } from './operation.js';
import { placeOf, putFile, type Target } from './put.js';
import { holdsBytes, isDatedAs } from './same-bytes.js';

interface PutUrlRequest {
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
  readonly readsBack?: boolean;
  /** A try whose end nobody knows was made before: what stands there is compared, and left where it is the same. */
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
  // Its server must not keep a session that others wait for, any more than a client may.
  const stopWatching = operation.paces.watch('source', () => body.readableLength === 0, fetched.received);
  try {
    const target = targetOf(filename);
    const standing = mayStand ? await standingAt(operation, target, facts, { body, size }) : undefined;
    if (standing !== undefined) return standing;
    return await putFile(operations, operation, {
      ...{ connection, target, body, size, maxBytes, facts, readsBack },
    });
  } finally {
    stopWatching();
    body.destroy();
  }
}

/** undefined: nothing stands there, and nothing of the body is read. @throws GatewayError already_exists of something else */
function standingAt(
  operation: Operation,
  target: Target,
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
