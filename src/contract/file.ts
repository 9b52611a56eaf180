/** A file or folder on a remote server. */
import { TIME } from './examples.js';
import { Type } from 'typebox';
import { base64, count, dateTime, flag, text } from './schema.js';
import { derived, type Example, kept } from './thing.js';
import { RAW_NAME, ROOT_PATH } from './words.js';

export const fileFields = {
  name: kept(text('Name of the file or folder.')),
  path: kept(text(ROOT_PATH)),
  size: kept(count('Bytes.')),
  isDirectory: kept(flag('Whether it is a folder.')),
  modifiedAt: kept(dateTime('Time of the last change, UTC.')),
  rawName: derived(Type.Optional(base64(RAW_NAME))),
};

export const fileExample = {
  name: 'report.pdf',
  path: '/upload/report.pdf',
  size: 48213,
  isDirectory: false,
  modifiedAt: TIME,
} as const satisfies Example<typeof fileFields>;
