/** Files that a build made: read once, each with the brotli and gzip copies that the build put beside it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import mime from 'mime-types';
import { isNotModified } from './answer.js';
import { takesCoding } from './coding.js';
import type { HttpAnswer, HttpRequest } from './types.js';

export interface StaticFile {
  readonly contentType: string;
  readonly digest: string;
  readonly plain: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

/** By name, from the folder on, with "/" in front. Empty where nothing was built. */
export function readStaticFiles(folder: string): Map<string, StaticFile> {
  const bytes = new Map<string, Buffer>();
  for (const entry of listFiles(folder)) bytes.set(`/${entry}`, readFileSync(path.join(folder, entry)));
  const files = new Map<string, StaticFile>();
  for (const [name, plain] of bytes) {
    if (name.endsWith('.br') || name.endsWith('.gz')) continue;
    const contentType = mime.contentType(path.extname(name)) || 'application/octet-stream';
    const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
    files.set(name, { contentType, digest, plain, br: bytes.get(`${name}.br`), gzip: bytes.get(`${name}.gz`) });
  }
  return files;
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'));
  } catch {
    // Not built: the gateway serves its API all the same.
    return [];
  }
}

export function staticAnswer(
  request: HttpRequest,
  file: StaticFile,
  fields: Readonly<Record<string, string>>,
): HttpAnswer {
  const { coding, body } = encode(request.headers.get('accept-encoding'), file);
  // Each coding is a representation of its own (RFC 9110, 8.8.3.3).
  const ETag = `"${file.digest}${coding === undefined ? '' : `-${coding}`}"`;
  const validators = { ...fields, ETag, Vary: 'Accept-Encoding' };
  if (isNotModified(request.headers, { entityTag: ETag, lastModified: undefined, isSettled: true })) {
    return { status: 304, headers: validators };
  }
  const headers = {
    ...validators,
    'Content-Type': file.contentType,
    ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
  };
  return request.method === 'HEAD' ? { status: 200, headers, headLength: body.length } : { status: 200, headers, body };
}

function encode(accepted: string | undefined, { br, gzip, plain }: StaticFile): { coding?: string; body: Buffer } {
  if (br !== undefined && takesCoding(accepted, 'br')) return { coding: 'br', body: br };
  if (gzip !== undefined && takesCoding(accepted, 'gzip')) return { coding: 'gzip', body: gzip };
  return { body: plain };
}
