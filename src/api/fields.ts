/** Fields that several endpoints have, each with the words that are right for one place. */
import { Type, type TSchemaOptions, type TString } from 'typebox';
import { text } from '../base/schema.js';

/** Of a request. */
export const remotePath = (
  description = 'Path on the remote server, absolute or from the default path of the connection.',
  options?: TSchemaOptions,
): TString => text(description, { minLength: 1, maxLength: 4096, ...options });

/** Of an answer. */
export const answeredPath = (): TString => text('Path from the root of the connection.');

export const RAW_NAME =
  'The exact bytes of a name that is not UTF-8, as base64; in a request, beside the path that ends with that name. Not on S3.';

/** Of a request: the bytes of a name as base64, as FileInfo has it. */
export const rawName = (description = RAW_NAME, options?: TSchemaOptions): TString =>
  text(description, { minLength: 1, maxLength: 340, ...options });

/** Query parameters that name a file. */
export const fileParameters = {
  path: remotePath(undefined, { examples: ['/upload/report.pdf'] }),
  rawName: Type.Optional(rawName(undefined, { examples: ['cmVwb3J0LnBkZg=='] })),
};

/** Parameters of the path of a request. */
export const connectionParameter = {
  connectionId: text('Id of a connection, as `GET /api/connections` shows it.', {
    minLength: 1,
    examples: ['warehouse'],
  }),
};
