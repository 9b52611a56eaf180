/** The API of the gateway, with one method for each endpoint. */
import type { Progress, UploadBody } from './body.js';
import { at, type ChangeOptions, changing, changingOnce, deleting, fieldsOf, patching, reading } from './calls.js';
import { Download, type DownloadOptions, openDownload } from './download.js';
import { FtgError } from './errors.js';
import { eventsOf, type EventsOptions, eventsPage } from './events.js';
import { Jobs } from './jobs.js';
import { Links } from './links.js';
import { linesOf } from './lines.js';
import { type Receipt, receiptOf, receiptsOf, type ReceiptsOptions } from './receipts.js';
import { type ResumableBody, type ResumableOptions, uploadResumable } from './resumable.js';
import { Schedules } from './schedules.js';
import { type Call, type CallOptions, type ClientOptions, Transport } from './transport.js';
import type * as api from './types.js';
import { Webhooks } from './webhooks.js';

export interface UploadOptions extends ChangeOptions, Omit<api.UploadQuery, 'filename'> {
  readonly filename: string;
  /** The size of a stream in bytes, if known: then it is sent with a Content-Length. */
  readonly size?: number | undefined;
  /** Content-Digest (RFC 9530), such as `sha-256=:…:`; checked before the file becomes visible. */
  readonly contentDigest?: string | undefined;
  readonly onProgress?: Progress | undefined;
}

/** Beside the fields of UploadFromUrl. */
export interface UploadFromUrlOptions extends ChangeOptions, Omit<api.UploadQuery, keyof api.UploadFromUrl> {}

export interface ListOptions extends CallOptions, Omit<api.ListQuery, 'path'> {}

interface ArchiveOptions extends CallOptions, Omit<api.DownloadQuery, 'path' | 'rawName' | 'format'> {
  readonly onProgress?: Progress | undefined;
}

type Content = Pick<api.ContentRequest, 'content' | 'encoding'>;

/**
 * Every method rejects with FtgError, or with the reason of its signal. Failed calls are retried according to `retry`
 * if a second run does no harm. append, exec, createWatchedFolder, jobs.create, jobs.retry, links.create,
 * repeatTransfer, schedules.create, schedules.run, webhooks.create and webhooks.rotateSecret are retried only if they
 * certainly have not begun.
 */
export class FileTransferGateway {
  readonly jobs: Jobs;
  readonly links: Links;
  readonly schedules: Schedules;
  readonly webhooks: Webhooks;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.jobs = new Jobs(this.#transport);
    this.links = new Links(this.#transport);
    this.schedules = new Schedules(this.#transport);
    this.webhooks = new Webhooks(this.#transport);
  }

  /** Streams a file to the connection; a stream that can be read only once is not retried. */
  async upload(connectionId: string, body: UploadBody, options: UploadOptions): Promise<api.Transfer> {
    const { size, contentDigest, onProgress, ...others } = options;
    const { transfer } = await this.#transport.json<{ readonly transfer: api.Transfer }>({
      ...changing(at('/api/upload', connectionId), options),
      query: fieldsOf(others),
      headers: { 'Content-Type': 'application/octet-stream', 'Content-Digest': contentDigest },
      upload: { body, size, onProgress },
    });
    return transfer;
  }

  /**
   * Like upload(), for large files and bad lines: continues after an interruption; with `url`, even in another process.
   */
  uploadResumable(
    connectionId: string,
    body: Blob | ResumableBody,
    options: ResumableOptions,
  ): Promise<api.TransferItem> {
    const bytes = body instanceof Blob ? { size: body.size, from: (offset: number) => body.slice(offset) } : body;
    return uploadResumable(this.#transport, connectionId, bytes, options);
  }

  /** Makes the gateway fetch a URL and store the result. */
  async uploadFromUrl(
    connectionId: string,
    source: api.UploadFromUrl,
    options: UploadFromUrlOptions = {},
  ): Promise<api.Transfer> {
    const call = fetching(connectionId, source, options);
    return (await this.#transport.json<{ readonly transfer: api.Transfer }>(call)).transfer;
  }

  /** Starts a job for the same; it continues even if this call is cut. */
  async beginUploadFromUrl(
    connectionId: string,
    source: api.UploadFromUrl,
    options: UploadFromUrlOptions = {},
  ): Promise<api.Job> {
    const call = fetching(connectionId, source, options);
    return (await this.#transport.json<{ readonly job: api.Job }>({ ...call, headers: { Prefer: 'respond-async' } }))
      .job;
  }

  /**
   * Resolves as soon as the head of the answer has arrived; the body streams, and continues after a broken line: see
   * Download.
   */
  download(connectionId: string, path: string, options: DownloadOptions = {}): Promise<Download> {
    const { range: _range, resume: _resume, ifNoneMatch: _etag, onProgress: _progress, ...others } = options;
    const query = { path, ...fieldsOf(others) };
    return openDownload(this.#transport, reading(at('/api/download', connectionId), options, query), options);
  }

  /** A ZIP archive of folders and files, sent while it is created: its length is unknown. */
  downloadArchive(
    connectionId: string,
    paths: string | readonly string[],
    options: ArchiveOptions = {},
  ): Promise<Download> {
    const { onProgress, ...others } = options;
    const { signal } = options;
    const query = { path: paths, ...fieldsOf(others), format: 'zip' };
    return this.#transport.send(
      reading(at('/api/download', connectionId), options, query),
      async (response) => new Download(response, { onProgress, signal, silenceMs: this.#transport.timeoutOf(options) }),
    );
  }

  /** A file as an object with base64 content, for small files. */
  downloadJson(
    connectionId: string,
    path: string,
    options: CallOptions & Omit<api.DownloadQuery, 'path' | 'format'> = {},
  ): Promise<api.DownloadAnswer> {
    const query = { path, ...fieldsOf(options), format: 'json' };
    return this.#transport.json(reading(at('/api/download', connectionId), options, query));
  }

  copy(request: api.CopyRequest, options: ChangeOptions = {}): Promise<api.CopyAnswer> {
    return this.#transport.json(changing('/api/copy', options, request));
  }

  /** Starts a job that makes the copy; it continues even if this call is cut. */
  async beginCopy(
    request: Omit<api.CopyRequest, 'source_raw_name' | 'mtime'>,
    options: ChangeOptions = {},
  ): Promise<api.Job> {
    const call = { ...changing('/api/copy', options, request), headers: { Prefer: 'respond-async' } };
    return (await this.#transport.json<{ readonly job: api.Job }>(call)).job;
  }

  /** The content of a small file, as text unless `encoding` is `base64`. */
  read(
    connectionId: string,
    path: string,
    options: CallOptions & Omit<api.ReadQuery, 'path'> = {},
  ): Promise<api.ReadAnswer> {
    const query = { path, ...fieldsOf(options) };
    return this.#transport.json(reading(at('/api/read', connectionId), options, query));
  }

  /** Creates or replaces a file; bytes are sent as base64. */
  write(
    connectionId: string,
    path: string,
    content: string | Uint8Array,
    options: ChangeOptions & Omit<api.WriteRequest, keyof Content | 'path'> = {},
  ): Promise<api.WriteAnswer> {
    const body = { path, ...fieldsOf(options), ...contentFields(content) };
    return this.#transport.json(changing(at('/api/write', connectionId), options, body));
  }

  /** Appends to an existing file; bytes are sent as base64. */
  append(
    connectionId: string,
    path: string,
    content: string | Uint8Array,
    options: ChangeOptions & Omit<api.ContentRequest, keyof Content | 'path'> = {},
  ): Promise<api.AppendAnswer> {
    const body = { path, ...fieldsOf(options), ...contentFields(content) };
    const call = changing(at('/api/append', connectionId), options, body);
    return this.#transport.json({ ...call, repetition: 'once' });
  }

  /** With `recursive`, deletes a folder with everything below it. */
  delete(
    connectionId: string,
    path: string,
    options: ChangeOptions & Omit<api.DeleteRequest, 'path'> = {},
  ): Promise<api.DeleteAnswer> {
    const body = { path, ...fieldsOf(options) };
    return this.#transport.json(changing(at('/api/delete', connectionId), options, body));
  }

  move(
    connectionId: string,
    from: string,
    to: string,
    options: ChangeOptions & Omit<api.MoveRequest, 'from' | 'to'> = {},
  ): Promise<api.MoveAnswer> {
    const body = { from, to, ...fieldsOf(options) };
    return this.#transport.json(changing(at('/api/move', connectionId), options, body));
  }

  mkdir(
    connectionId: string,
    path: string,
    options: ChangeOptions & Omit<api.MkdirRequest, 'path'> = {},
  ): Promise<api.MkdirAnswer> {
    const body = { path, ...fieldsOf(options) };
    return this.#transport.json(changing(at('/api/mkdir', connectionId), options, body));
  }

  /** Lists `path`, by default the connection's default path. */
  list(connectionId: string, path?: string, options: ListOptions = {}): Promise<api.ListAnswer> {
    const query = { path, ...fieldsOf(options) };
    return this.#transport.json(reading(at('/api/list', connectionId), options, query));
  }

  /** Lists page by page while they are read: sorted, and with retries. A page has 1,000 entries, or `limit`. */
  async *listPages(
    connectionId: string,
    path?: string,
    options: ListOptions = {},
  ): AsyncGenerator<api.ListAnswer, void> {
    for (let { cursor } = options; ;) {
      const next = cursor === undefined ? {} : { cursor };
      const page = await this.list(connectionId, path, { limit: 1_000, ...options, ...next });
      yield page;
      if (typeof page.nextCursor !== 'string') return;
      cursor = page.nextCursor;
    }
  }

  /**
   * Lists entries in the server's order and in one answer: the fastest way for large trees, but without retries. If the
   * gateway left out entries, `onIncomplete` is called with their number at the end; without it, the stream ends with
   * FtgError `protocol_error`.
   */
  async *listStream(
    connectionId: string,
    path?: string,
    options: Omit<ListOptions, 'limit' | 'cursor'> & { readonly onIncomplete?: (entries: number) => void } = {},
  ): AsyncGenerator<api.FileInfo, void> {
    const { onIncomplete, ...others } = options;
    const call = reading(at('/api/list', connectionId), options, { path, ...fieldsOf(others) });
    const response = await this.#transport.send(
      { ...call, headers: { Accept: 'application/x-ndjson' } },
      async (answer) => answer,
    );
    const silenceMs = this.#transport.timeoutOf(options);
    for await (const line of linesOf(response, { signal: options.signal, silenceMs })) {
      const entry = JSON.parse(line) as api.FileInfo | { readonly incomplete: number };
      if (!('incomplete' in entry)) yield entry;
      else if (onIncomplete !== undefined) onIncomplete(entry.incomplete);
      else throw incompleteList(entry.incomplete, response.headers.get('x-request-id') ?? undefined);
    }
  }

  exists(
    connectionId: string,
    path: string,
    options: CallOptions & Omit<api.ExistsQuery, 'path'> = {},
  ): Promise<api.ExistsAnswer> {
    const query = { path, ...fieldsOf(options) };
    return this.#transport.json(reading(at('/api/exists', connectionId), options, query));
  }

  /** Runs a shell command; `timeout` in milliseconds. SFTP connections only. */
  exec(
    connectionId: string,
    command: string,
    options: CallOptions & Omit<api.ExecRequest, 'command'> = {},
  ): Promise<api.ExecAnswer> {
    const body = { command, ...fieldsOf(options) };
    return this.#transport.json(changingOnce(at('/api/exec', connectionId), options, body));
  }

  async connections(options: CallOptions = {}): Promise<readonly api.Connection[]> {
    type Answer = { readonly connections: readonly api.Connection[] };
    return (await this.#transport.json<Answer>(reading('/api/connections', options))).connections;
  }

  me(options: CallOptions = {}): Promise<api.AccountInfo> {
    return this.#transport.json(reading('/api/me', options));
  }

  /** One page of the history, newest first. */
  transfers(query: api.TransfersQuery = {}, options: CallOptions = {}): Promise<api.TransfersAnswer> {
    return this.#transport.json(reading('/api/transfers', options, { ...query }));
  }

  /** The whole matching history, newest first, requested page by page while it is read. */
  async *allTransfers(
    query: api.TransfersQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<api.TransferItem, void> {
    // New transfers push older ones onto the next page: duplicates are recognized by their id.
    let former = new Set<string>();
    for (let offset = query.offset ?? 0; ;) {
      const page = await this.transfers({ limit: 100, ...query, offset }, options);
      for (const item of page.transfers) if (!former.has(item.id)) yield item;
      offset += page.transfers.length;
      if (page.transfers.length < page.limit || offset >= page.total) return;
      former = new Set(page.transfers.map(({ id }) => id));
    }
  }

  async transfer(id: string, options: CallOptions = {}): Promise<api.TransferDetails> {
    type Answer = { readonly transfer: api.TransferDetails };
    return (await this.#transport.json<Answer>(reading(at('/api/transfers', id), options))).transfer;
  }

  /** Runs a failed transfer again whose `repeatable` is true. Resolves when it is done. */
  repeatTransfer(id: string, options: CallOptions = {}): Promise<api.RepeatedTransferAnswer> {
    return this.#transport.json(changingOnce(`${at('/api/transfers', id)}/again`, options));
  }

  /** A JWS in its compact form; `ftg verify`, or any software with EdDSA, checks it. */
  receipt(transferId: string, options: CallOptions = {}): Promise<string> {
    return receiptOf(this.#transport, transferId, options);
  }

  /** The public keys that verify receipts. Keep them with the receipts. */
  receiptKeys(options: CallOptions = {}): Promise<api.ReceiptKeys> {
    return this.#transport.json(reading('/.well-known/jwks.json', options));
  }

  /** The chain of the account's receipts, oldest first: see ReceiptsOptions. */
  receipts(options: ReceiptsOptions = {}): AsyncGenerator<Receipt, void> {
    return receiptsOf(this.#transport, options);
  }

  /** Each event of the account once, in order, including future ones: see EventsOptions. */
  events(options: EventsOptions = {}): AsyncGenerator<api.FeedEvent, void> {
    return eventsOf(this.#transport, options);
  }

  /** One page of events. */
  eventsPage(
    query: api.EventsQuery = {},
    options: CallOptions = {},
  ): Promise<Omit<api.EventsAnswer, 'events'> & { readonly events: readonly api.FeedEvent[] }> {
    return eventsPage(this.#transport, query, options);
  }

  async watchedFolders(options: CallOptions = {}): Promise<readonly api.WatchedFolder[]> {
    type Answer = { readonly watchedFolders: readonly api.WatchedFolder[] };
    return (await this.#transport.json<Answer>(reading('/api/watched-folders', options))).watchedFolders;
  }

  watchedFolder(id: string, options: CallOptions = {}): Promise<api.WatchedFolder> {
    return this.#transport.json(reading(at('/api/watched-folders', id), options));
  }

  /** Only this answer contains the secret of its webhooks. */
  createWatchedFolder(folder: api.NewWatchedFolder, options: CallOptions = {}): Promise<api.CreatedWatchedFolder> {
    return this.#transport.json(changingOnce('/api/watched-folders', options, folder));
  }

  changeWatchedFolder(
    id: string,
    changes: api.WatchedFolderChanges,
    options: CallOptions = {},
  ): Promise<api.WatchedFolder> {
    return this.#transport.json(patching(at('/api/watched-folders', id), options, changes));
  }

  async deleteWatchedFolder(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.json(deleting(at('/api/watched-folders', id), options));
  }
}

function fetching(connectionId: string, source: api.UploadFromUrl, options: UploadFromUrlOptions): Call {
  return { ...changing(at('/api/upload', connectionId), options, source), query: fieldsOf(options) };
}

function contentFields(content: string | Uint8Array): Content {
  if (typeof content === 'string') return { encoding: 'text', content };
  let binary = '';
  // Converts in slices, because argument lists are limited.
  for (let at = 0; at < content.length; at += 0x8000)
    binary += String.fromCharCode(...content.subarray(at, at + 0x8000));
  return { encoding: 'base64', content: btoa(binary) };
}

function incompleteList(entries: number, requestId: string | undefined): FtgError {
  const text = `the list is incomplete: the gateway left out ${entries} entries that it cannot read or address`;
  return new FtgError(text, { status: 200, code: 'protocol_error', requestId });
}
