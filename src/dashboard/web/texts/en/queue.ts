import { formatNumber } from '../../format.ts';
import { plural } from '../plural.ts';

const files = (n: number): string => plural(n, { one: '1 file', other: `${formatNumber(n)} files` });
const also = (skipped: number): string => (skipped === 0 ? '' : `, ${formatNumber(skipped)} skipped`);
const at = (connection: string, folder: string): string => `${connection}:${folder}`;

export const queue = {
  sameFolder: 'The folder that it is in now. Choose another one.',
  label: 'Queue',
  list: 'What is in the queue',
  progress: 'Progress of the queue',
  said: {
    atWork: 'The queue has started',
    conflicts: 'The queue needs a decision',
    failed: 'Something in the queue went wrong',
    cancelled: 'The queue has ended, and some of it was cancelled',
    finished: 'The queue has finished',
  },
  toGo: (active: number, all: number): string => `${formatNumber(active)} of ${formatNumber(all)} to go`,
  toDecide: (n: number): string =>
    plural(n, { one: 'A file already exists', other: `${formatNumber(n)} files already exist` }),
  failed: (n: number): string => `${formatNumber(n)} failed`,
  allDone: 'All done',
  /** Joined by commas: “61 deleted, 339 cancelled”. */
  outcome: {
    upload: (n: string): string => `${n} uploaded`,
    copy: (n: string): string => `${n} copied`,
    move: (n: string): string => `${n} moved`,
    delete: (n: string): string => `${n} deleted`,
    skipped: (n: string): string => `${n} skipped`,
    cancelled: (n: string): string => `${n} cancelled`,
  },
  finding: 'Looking for files …',
  unreadable: (path: string): string =>
    `“${path}” on this computer could not be read, so not everything is uploaded. Check that it exists and that you may open it, then drop everything again.`,
  retryFailed: (n: number): string => plural(n, { one: 'Retry', other: `Retry all ${formatNumber(n)}` }),
  cancelAll: 'Cancel all',
  clearDone: 'Clear done',
  clearFailed: 'Clear',
  conflicts: 'Files that already exist',
  taken: (n: number): string =>
    plural(n, {
      one: 'A file with this name already exists. What do you want to do?',
      other: 'What do you want to do with them? The answer applies to the rest of this batch too.',
    }),
  replace: 'Replace',
  replaceAll: 'Replace all',
  skip: 'Skip',
  skipAll: 'Skip all',
  keepBoth: 'Keep both',
  exists: (folder: string): string => `Already exists in ${folder}`,
  tryAgain: (name: string): string => `Try ${name} again`,
  dismiss: (name: string): string => `Remove ${name} from the queue`,
  showJob: 'Show the job',
  waiting: {
    upload: (connection: string, folder: string): string => `Waiting, to ${at(connection, folder)}`,
    copy: (connection: string, folder: string): string => `Waiting to be copied to ${at(connection, folder)}`,
    move: (connection: string, folder: string): string => `Waiting to be moved to ${at(connection, folder)}`,
    delete: (connection: string, folder: string): string => `Waiting to be deleted from ${at(connection, folder)}`,
  },
  running: {
    upload: (connection: string, folder: string): string => `Uploading to ${at(connection, folder)}`,
    copy: (connection: string, folder: string): string => `Copying to ${at(connection, folder)}`,
    move: (connection: string, folder: string): string => `Moving to ${at(connection, folder)}`,
    delete: (connection: string, folder: string): string => `Deleting from ${at(connection, folder)}`,
  },
  done: {
    upload: (connection: string, folder: string): string => `Uploaded to ${at(connection, folder)}`,
    copy: (connection: string, folder: string): string => `Copied to ${at(connection, folder)}`,
    move: (connection: string, folder: string): string => `Moved to ${at(connection, folder)}`,
    delete: (connection: string, folder: string): string => `Deleted from ${at(connection, folder)}`,
  },
  sent: (size: string, connection: string, folder: string): string => `${size} to ${at(connection, folder)}`,
  finishing: 'Finishing …',
  skipped: 'Skipped: the existing file stays',
  jobRunning: (ended: number, found: number, isListed: boolean): string =>
    `${formatNumber(ended)} of ${files(found)}${isListed ? '' : ', still listing'}`,
  jobCancelled: (ended: number, found: number, isListed: boolean): string =>
    `Cancelled after ${formatNumber(ended)} of ${files(found)}${isListed ? '' : ', before all were listed'}`,
  jobDone: {
    upload: (n: number, skipped: number): string => `${files(n)} uploaded${also(skipped)}`,
    copy: (n: number, skipped: number): string => `${files(n)} copied${also(skipped)}`,
    move: (n: number, skipped: number): string => `${files(n)} moved${also(skipped)}`,
    delete: (n: number, skipped: number): string => `${files(n)} deleted${also(skipped)}`,
  },
  jobFailed: (n: number): string => (n === 0 ? 'Some of it was not done.' : `${files(n)} failed. The others are done.`),
  interrupted: 'Interrupted uploads',
  interruptedState: (size: string, connection: string, folder: string): string =>
    `${size} to ${at(connection, folder)}, interrupted.`,
  chooseAgain: 'Choose the same file again to resume the upload.',
  chooseFile: 'Choose the file …',
  chooseFileOf: (name: string): string => `The file ${name} again`,
  giveUp: 'Discard',
  uploadFolder: 'Upload a folder',
  folderToUpload: 'Folder to upload',
  makeFolder: 'Create the folder',
  moveTitle: (name: string): string => `Move ${name}`,
  moveMany: (n: number): string => `Move ${formatNumber(n)} items`,
  toFolder: 'Destination folder',
  moveHint: 'Missing folders are created. Nothing is replaced without asking.',
  deleteMany: (n: number): string => `Delete ${formatNumber(n)} items?`,
  deleteForGood: 'The server keeps no copy. This cannot be undone.',
  deleteFolders: (n: number): string =>
    plural(n, {
      one: 'The folder is deleted with everything in it.',
      other: `The ${formatNumber(n)} folders are deleted with everything in them.`,
    }),
  copy: 'Copy',
  copyTitle: (name: string): string => `Copy ${name}`,
  copyMany: (n: number): string => `Copy ${formatNumber(n)} items`,
  toConnection: 'Destination connection',
  folderThere: 'Destination folder',
  copyHint: 'Missing folders are created. No file is replaced without asking.',
  inFolders: 'Files that already exist in the folders',
  inFoldersRules: {
    skip: 'Skip them',
    rename: 'Keep both',
    newer: 'Replace them if the copy is newer',
    replace: 'Replace them',
  },
  zipTooMany: (most: number): string =>
    `An archive holds at most ${formatNumber(most)} entries. Choose fewer, or the folder that contains them.`,
  zipRawName: 'An entry whose name is not UTF-8 must be downloaded on its own.',
  anotherFile: (name: string): string => `This is not the same file as ${name}: its size or time differs.`,
};
