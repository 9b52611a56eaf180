/** The schemas of the file API that have a name in its document. Wherever one of them is met, it is shown as a reference. */
import * as answers from '../answer-schemas.js';
import * as requests from '../schemas.js';
import type { Schema } from './types.js';

const upload = requests.uploadFields as ObjectSchema;
const content = requests.contentFields as ObjectSchema;

interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

/** An upload's schema for one of its forms: the fields that the form may hold, and those that it must. */
function uploadForm(names: readonly string[], required: readonly string[], more: Record<string, Schema> = {}): Schema {
  const kept = Object.entries(upload.properties)
    .filter(([name]) => names.includes(name))
    // The check has no default: the query counts where a form says nothing.
    .map(([name, schema]) => [name, name === 'overwrite' ? { ...schema, default: true } : schema] as const);
  return { type: 'object', properties: { ...more, ...Object.fromEntries(kept) }, required };
}

/** Bytes as they are. Generators know them by `format`, which JSON Schema 2020-12 leaves to them. */
export const BINARY = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' } as const;

const NAMING = ['path', 'filename', 'overwrite', 'filename_template'] as const;

export const uploadMultipart = uploadForm(NAMING, ['file'], {
  file: BINARY,
});
export const uploadBase64 = uploadForm([...NAMING, 'content'], ['filename', 'content']);
export const uploadFromUrl = uploadForm([...NAMING, 'url'], ['url']);
/** `content` streams past the check of the other fields; the handler asks for it. */
export const contentRequest: Schema = { ...content, required: [...content.required, 'content'] };

export const components: Readonly<Record<string, object>> = {
  UploadMultipart: uploadMultipart,
  UploadBase64: uploadBase64,
  UploadFromUrl: uploadFromUrl,
  ContentRequest: contentRequest,
  CopyRequest: requests.copyBody,
  DeleteRequest: requests.deleteBody,
  MoveRequest: requests.moveBody,
  ExecRequest: requests.execBody,
  NewWatchedFolder: requests.watchedFolderBody,
  WatchedFolderChanges: requests.watchedFolderChanges,
  Transfer: answers.transfer,
  AppendTransfer: answers.appendTransfer,
  TransferItem: answers.transferItem,
  Connection: answers.connection,
  ConnectionSummary: answers.connectionSummary,
  WatchedFolder: answers.watchedFolder,
  CreatedWatchedFolder: answers.createdWatchedFolder,
  ErrorAnswer: answers.error,
  SkippedAnswer: answers.skipped,
  UploadAnswer: answers.uploadAnswer,
  DownloadAnswer: answers.downloadAnswer,
  CopyAnswer: answers.copyAnswer,
  ReadAnswer: answers.readAnswer,
  WriteAnswer: answers.writeAnswer,
  AppendAnswer: answers.appendAnswer,
  DeleteAnswer: answers.deleteAnswer,
  MoveAnswer: answers.moveAnswer,
  ListAnswer: answers.listAnswer,
  ExecAnswer: answers.execAnswer,
  ConnectionsAnswer: answers.connectionsAnswer,
  TransfersAnswer: answers.transfersAnswer,
  WatchedFoldersAnswer: answers.watchedFoldersAnswer,
  SuccessAnswer: answers.successAnswer,
  StatusAnswer: answers.statusAnswer,
  FilesDetectedEvent: answers.filesDetectedEvent,
  FilesMissingEvent: answers.filesMissingEvent,
  TestEvent: answers.testEvent,
};
