/** A link that a request opens by its secret, and the place that its path and the request name. */
import { Type } from 'typebox';
import { refusal } from '../../base/errors.js';
import type { Connection } from '../../connections/connection.js';
import { text } from '../../contract/schema.js';
import { FILE_NAME } from '../../contract/words.js';
import { answerOfError } from '../../http/answer.js';
import { isInBlocks } from '../../http/client-address.js';
import { refuseOver } from '../../http/rate-limits.js';
import type { HttpAnswer } from '../../http/types.js';
import { PRIVATE } from '../../links/page.js';
import { LinkEnded, noSuchLink } from '../../links/refusals.js';
import { callerOf } from '../../links/service.js';
import { requireName } from '../../operations/names.js';
import type { ExpectedDigest } from '../../operations/pump.js';
import {
  baseName,
  joinPath,
  parentOf,
  parseFileName,
  parseRemotePath,
  type RemotePath,
  ROOT,
} from '../../remotes/path.js';
import type { OpenedLink } from '../../storage/storage.js';
import { type OperationContext, operationFor, type Services } from '../services.js';

export const parameter = {
  token: text('The secret of the link, from its `url`.', {
    minLength: 1,
    examples: ['9wKq2mTz0VbXr7Yc4NdLpA6sHfEuGi1J'],
  }),
};

/** What the sender of a file may say of it. */
export const sentFields = Type.Object({
  filename: Type.Optional(text(FILE_NAME, { minLength: 1, maxLength: 255, examples: ['report.pdf'] })),
  folder: Type.Optional(
    text('The folder of the file, below that of the link, which must take `folders`: names, separated by slashes.', {
      minLength: 1,
      maxLength: 1024,
      examples: ['photos/2026'],
    }),
  ),
});

/** One below the other. */
const MOST_FOLDERS = 32;

export const PRIVATE_FIELDS = Object.keys(PRIVATE);

export type LinkInput = OperationContext & { readonly params: { readonly token: string } };

export interface Opened {
  readonly link: OpenedLink;
  readonly connection: Connection;
}

/**
 * `goesOn`: the request belongs to an upload that was begun before; it has its use. Errors: unknown_item, always with
 * the same text; gone; forbidden; rate_limited
 */
export async function open(
  input: LinkInput,
  { storage, links }: Services,
  { goesOn = false }: { readonly goesOn?: boolean } = {},
): Promise<Opened> {
  const { request, params } = input;
  const { service, guard, rate } = links;
  const link = await guard.unlessGuessing(request, params.token, () => service.open(params.token));
  const connection = link && (await storage.connections.find(link.accountId, link.connectionId));
  if (link === undefined || connection === undefined) throw noSuchLink();
  const mayGoOn = goesOn && link.state === 'used_up';
  if (link.state !== 'active' && !mayGoOn) throw new LinkEnded(link.state);
  if (link.allowedIps.length > 0 && !isInBlocks(request.remoteAddress, link.allowedIps)) {
    throw refusal('forbidden', 'this link may not be used from this address');
  }
  request.claims.admit(link.accountId, false);
  request.expectPace(links.minBytesPerSecond);
  const taken = await rate?.(link.id);
  if (taken !== undefined) refuseOver(taken, 'too many requests with this link');
  return { link, connection };
}

/**
 * The target of an upload. If neither the link nor the sender names the file, the link's path is the file, as with a
 * presigned URL. A path with a slash at its end is always a folder, so that no file can take its place.
 */
export function linkTargetOf(
  link: OpenedLink,
  sent: { readonly filename?: string | undefined; readonly folder?: string | undefined },
): { readonly folder: RemotePath; readonly filename: string } {
  const path = pathOf(link);
  if (link.filename !== null) return { folder: path, filename: parseFileName(link.filename, 'filename') };
  if (sent.filename === undefined && !link.path.endsWith('/')) {
    return { folder: parentOf(path), filename: baseName(path) };
  }
  const filename = nameOf(requireName(sent.filename), 'filename');
  if (sent.folder === undefined) return { folder: path, filename };
  if (!link.folders) throw refusal('bad_request', 'this link takes no folders');
  const names = sent.folder.split('/');
  if (names.length > MOST_FOLDERS) throw refusal('bad_request', `folder must be at most ${MOST_FOLDERS} names`);
  const folder = names.reduce<RemotePath>(
    (above, name) => joinPath(above, nameOf(parseFileName(name, 'folder'), 'folder')),
    path,
  );
  return { folder, filename };
}

/** A name that a stranger may give. */
function nameOf(name: string, field: string): string {
  if (name.startsWith('.')) throw refusal('bad_request', `${field} must not begin with a dot`);
  // Servers on Windows treat it as a slash.
  if (name.includes('\\')) throw refusal('bad_request', `${field} must not hold a backslash`);
  return name;
}

/** A slow upload may end after the expiry of its link, but not after its revocation. */
export async function stillOpens({ links }: Services, token: string): Promise<void> {
  const link = await links.service.open(token);
  if (link === undefined) throw new LinkEnded('revoked');
  if (link.state === 'revoked' || link.state === 'key_ended') throw new LinkEnded(link.state);
}

export function linkOperationOf(
  input: LinkInput,
  { link, connection }: Opened,
  type: 'upload' | 'download' | 'exists',
  path: RemotePath,
  filename?: string,
) {
  // The time of its server is not disclosed.
  const asked = { ...input, caller: callerOf(link), timedBy: () => undefined };
  return operationFor(asked, connection, type, path, filename);
}

/** The most bytes of a file; 0 = no limit. */
export const mostBytesOf = (link: OpenedLink, { limits }: Services): number =>
  smaller(link.maxBytes ?? 0, limits.uploadBytes);

/** The digest that a file must have. */
export const linkDigestOf = ({ digest }: OpenedLink): ExpectedDigest | undefined =>
  digest === null ? undefined : { field: 'digest of its link', algorithm: 'sha256', value: digest };

/** The path at the creation of the link. */
export const pathOf = ({ path }: OpenedLink): RemotePath => parseRemotePath(path, ROOT, 'path');

/** The smaller of two limits; 0 = none. */
function smaller(a: number, b: number): number {
  return a === 0 || b === 0 ? Math.max(a, b) : Math.min(a, b);
}

export function notAllowed(text: string, allow: string): HttpAnswer {
  const { headers, ...answer } = answerOfError(refusal('method_not_allowed', text));
  return { ...answer, headers: { ...headers, Allow: allow } };
}
