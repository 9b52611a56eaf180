/** `ftg put`: local files, or standard input, to a connection. */
import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Transfer, UploadBody } from '../../client/index.js';
import type { Session } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { isFolder, parseLocation, splitPath, type Location } from '../location.js';
import { bytesText, printable } from '../output.js';
import { ProgressLine } from '../progress.js';

export interface PutOptions {
  readonly overwrite: boolean;
  readonly template?: string;
  readonly progress: boolean;
}

export async function put(session: Session, args: readonly string[], options: PutOptions): Promise<void> {
  const sources = args.slice(0, -1);
  if (sources.length === 0)
    throw new UsageError('name a file and where it goes: ftg put report.pdf warehouse:/upload/');
  const target = parseLocation(args.at(-1) ?? '');
  if (sources.length > 1 && !isFolder(target.path)) {
    throw new UsageError(`${target.path} is the name of one file, but there are ${sources.length}: end it with /`);
  }
  if (sources.includes('-') && isFolder(target.path)) {
    throw new UsageError('standard input has no name: give it one, such as warehouse:/upload/report.pdf');
  }
  for (const source of sources) {
    const transfer = await putOne(session, source, target, options);
    const { path, size, durationMs } = transfer;
    session.out.show(transfer, () => `${printable(path)}  ${bytesText(size)} in ${durationMs} ms`);
  }
}

async function putOne(
  { gateway, out, signal }: Session,
  source: string,
  { connectionId, path }: Location,
  { overwrite, template, progress }: PutOptions,
): Promise<Transfer> {
  const { folder, name } = isFolder(path) ? { folder: folderOf(path), name: basename(source) } : splitPath(path);
  const line = new ProgressLine(name, progress && !out.isJson);
  try {
    return await gateway.files.upload(connectionId, bodyOf(source), {
      ...sizeOf(source),
      filename: name,
      ...(folder === undefined ? {} : { path: folder }),
      ...(overwrite ? {} : { overwrite: false }),
      ...(template === undefined ? {} : { filename_template: template }),
      onProgress: line.update,
      signal,
    });
  } finally {
    line.end();
  }
}

/** A file can be read again for another try, standard input cannot. */
function bodyOf(source: string): UploadBody {
  return source === '-' ? process.stdin : () => createReadStream(source);
}

function sizeOf(source: string): { readonly size?: number } {
  if (source === '-') return {};
  const facts = statSync(source);
  if (facts.isDirectory()) throw new UsageError(`${source} is a folder; name its files`);
  // The size of a pipe or a device says nothing.
  return facts.isFile() ? { size: facts.size } : {};
}

function folderOf(path: string): string | undefined {
  if (path === '') return undefined;
  return path.length > 1 ? path.slice(0, -1) : path;
}
