/** Files that a build made: each is read once, with the brotli and gzip copies that the build put beside it. */
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

/** By name below the folder, with "/" in front. Empty if nothing was built. */
export function readStaticFiles(folder: string): Map<string, StaticFile> {
  const names = new Set(listFiles(folder));
  const own = [...names].filter((name) => !name.endsWith('.br') && !name.endsWith('.gz'));
  return new Map(own.map((name) => [`/${name}`, new BuiltFile(folder, name, names)]));
}

/** The first request for a file reads it: most files of the documentation are never requested. */
class BuiltFile implements StaticFile {
  readonly #folder: string;
  readonly #name: string;
  readonly #names: ReadonlySet<string>;
  readonly contentType: string;
  readonly #read = new Map<string, Buffer>();
  #digest: string | undefined;

  constructor(folder: string, name: string, names: ReadonlySet<string>) {
    this.#folder = folder;
    this.#name = name;
    this.#names = names;

    this.contentType = mime.contentType(path.extname(name)) || 'application/octet-stream';
  }

  get digest(): string {
    return (this.#digest ??= createHash('sha256').update(this.plain).digest('base64url').slice(0, 22));
  }

  get plain(): Buffer {
    return this.#bytesOf(this.#name);
  }

  get br(): Buffer | undefined {
    return this.#names.has(`${this.#name}.br`) ? this.#bytesOf(`${this.#name}.br`) : undefined;
  }

  get gzip(): Buffer | undefined {
    return this.#names.has(`${this.#name}.gz`) ? this.#bytesOf(`${this.#name}.gz`) : undefined;
  }

  #bytesOf(name: string): Buffer {
    let bytes = this.#read.get(name);
    if (bytes === undefined) this.#read.set(name, (bytes = readFileSync(path.join(this.#folder, name))));
    return bytes;
  }
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'));
  } catch {
    // The dashboard was not built: the gateway still serves its API.
    return [];
  }
}

export function staticAnswer(
  request: HttpRequest,
  file: StaticFile,
  fields: Readonly<Record<string, string>>,
): HttpAnswer {
  const { coding, body } = encode(request.headers.get('accept-encoding'), file);
  // Each coding is a separate representation (RFC 9110, 8.8.3.3).
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

function encode(accepted: string | undefined, file: StaticFile): { coding?: string; body: Buffer } {
  const br = takesCoding(accepted, 'br') ? file.br : undefined;
  if (br !== undefined) return { coding: 'br', body: br };
  const gzip = takesCoding(accepted, 'gzip') ? file.gzip : undefined;
  if (gzip !== undefined) return { coding: 'gzip', body: gzip };
  return { body: file.plain };
}
