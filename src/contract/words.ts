/** Descriptions that several fields share. */
export const ROOT_PATH = 'Path from the root of the connection.';
export const CONNECTION_ID = 'Id of a connection, as `GET /api/connections` shows it.';
export const ERROR_CODE = 'The code of the error, as `X-Error-Code` carries it.';
export const FILE_NAME = 'Name of the file, without a folder.';
export const DURATION_MS = 'Milliseconds from the start of the operation to its end.';
export const RAW_NAME =
  'The exact bytes of a name that is not UTF-8, as base64, and of the names below it, with a slash between them; in a request, beside the path that ends with them. Not on S3.';
