/** Descriptions that fields of several things have. */
export const ROOT_PATH = 'Path from the root of the connection.';
export const CONNECTION_ID = 'Id of a connection, as `GET /api/connections` shows it.';
export const ERROR_CODE = 'The code of the error, as `X-Error-Code` carries it.';
