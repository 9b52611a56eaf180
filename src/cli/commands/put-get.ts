/** `ftg put` and `ftg get`: content on its way between here and the gateway. */
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, statSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Progress, Transfer, UploadBody } from '../../client/index.js';
import type { Session } from '../command.js';
import { UsageError } from '../exit-codes.js';
import { isFolder, type Location, parseFileLocation, parseLocation, splitPath } from '../location.js';
import { bytesText, printable } from '../output.js';

interface PutOptions {
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

interface GetOptions {
  readonly overwrite: boolean;
  readonly progress: boolean;
}

export async function get(
  session: Session,
  [source = '', local = '.']: readonly (string | undefined)[],
  { overwrite, progress }: GetOptions,
): Promise<void> {
  const { gateway, out, signal } = session;
  const { connectionId, path } = parseFileLocation(source);
  const name = posix.basename(path);
  const file = local === '-' ? undefined : localFile(local, name);
  if (file !== undefined && !overwrite && existsSync(file)) throw exists(file);
  const line = new ProgressLine(name, progress && !out.isJson);
  const startedAt = performance.now();
  try {
    const download = await gateway.files.download(connectionId, path, { onProgress: line.update, signal });
    const body = Readable.fromWeb(download.body);
    if (file === undefined) {
      // Standard output stays open: it is not ours.
      await pipeline(body, process.stdout, { signal, end: false });
      return;
    }
    await store(body, file, overwrite, signal);
    const durationMs = Math.round(performance.now() - startedAt);
    const { size } = statSync(file);
    out.show({ connectionId, path, file, size, durationMs }, () => {
      line.end();
      return `${printable(file)}  ${bytesText(size)} in ${durationMs} ms`;
    });
  } finally {
    line.end();
  }
}

/** Under another name until it is whole; whatever goes wrong leaves nothing. */
async function store(body: Readable, file: string, overwrite: boolean, signal: AbortSignal): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.part`);
  try {
    await pipeline(body, createWriteStream(temporary, { flags: 'wx', flush: true }), { signal });
    if (overwrite) return await rename(temporary, file);
    // A link, unlike a rename, does not replace what came meanwhile.
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? exists(file) : error;
    });
  } finally {
    await rm(temporary, { force: true });
  }
}

function localFile(local: string, name: string): string {
  const isFolder = local.endsWith('/') || (existsSync(local) && statSync(local).isDirectory());
  return isFolder ? join(local, name) : local;
}

function exists(file: string): Error {
  return Object.assign(new Error(`${file} exists`), { code: 'EEXIST' });
}

const DRAW_EVERY_MS = 100;
const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[K';

class ProgressLine {
  private readonly startedAt = performance.now();
  private drawnAt = 0;
  private readonly isShown: boolean;

  constructor(
    private readonly name: string,
    isWanted: boolean,
    private readonly terminal: NodeJS.WriteStream = process.stderr,
  ) {
    this.isShown = isWanted && terminal.isTTY;
  }

  readonly update: Progress = ({ bytes, total }) => {
    const now = performance.now();
    // The last one is drawn in any case: a bar that stays at 99 % looks like a failure.
    if (!this.isShown || (now - this.drawnAt < DRAW_EVERY_MS && bytes !== total)) return;
    this.drawnAt = now;
    const line = progressText(this.name, bytes, total, now - this.startedAt);
    this.terminal.write(`${CLEAR_LINE}${line.slice(0, Math.max(20, this.terminal.columns - 1))}`);
  };

  /** Takes the line away: the result is told in its place. */
  end(): void {
    if (this.isShown && this.drawnAt > 0) this.terminal.write(CLEAR_LINE);
  }
}

export function progressText(name: string, bytes: number, total: number | undefined, elapsedMs: number): string {
  const perSecond = bytes / Math.max(elapsedMs / 1_000, 0.001);
  const speed = `${bytesText(Math.round(perSecond))}/s`;
  if (total === undefined || total === 0) return `${printable(name)}  ${bytesText(bytes)}  ${speed}`;
  const share = Math.min(1, bytes / total);
  const bar = '#'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '.');
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  const rest = perSecond === 0 ? '' : `  ${durationText((total - bytes) / perSecond)} left`;
  return `${percent} [${bar}] ${bytesText(bytes)} of ${bytesText(total)}  ${speed}${rest}  ${printable(name)}`;
}

function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const tail = `${String(minutes).padStart(hours > 0 ? 2 : 1, '0')}:${String(whole % 60).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}
