/** Every place of a request in which a client names a file or a folder, each with a request that is otherwise valid. */
import type { ApiAnswer, ApiClient } from '../../support/gateway.js';

/** Exists inside the connection's root; for operands that need an existing file. */
export const STANDING = '/standing.txt';

export interface Target {
  readonly api: ApiClient;
  readonly connection: string;
  /** Answers with the Content-Disposition in its query parameter `disposition`, for any path. */
  readonly origin: string;
}

export interface PathOperand {
  /** `METHOD /path place field`, as in the OpenAPI document; or a place that no schema describes. */
  readonly name: string;
  /** A name is one segment; a path may have several. `stripped`: only the part after the last slash counts. */
  readonly kind: 'path' | 'name' | 'stripped';
  readonly send: (target: Target, hostile: string) => Promise<ApiAnswer>;
}

const OCTETS = { 'Content-Type': 'application/octet-stream' };
const BOUNDARY = 'boundary-of-the-attack';

const get =
  (endpoint: string, field = 'path', more: Readonly<Record<string, string>> = {}, method = 'GET') =>
  ({ api, connection }: Target, hostile: string): Promise<ApiAnswer> =>
    api.send(`/api/${endpoint}/${connection}`, { method, query: { ...more, [field]: hostile } });

const post =
  (endpoint: string, body: (hostile: string, target: Target) => object) =>
  (target: Target, hostile: string): Promise<ApiAnswer> =>
    target.api.post(`/api/${endpoint}/${target.connection}`, body(hostile, target));

const copy =
  (fields: (hostile: string) => object) =>
  ({ api, connection }: Target, hostile: string): Promise<ApiAnswer> =>
    api.post('/api/copy', { source_connection_id: connection, dest_connection_id: connection, ...fields(hostile) });

/** What the URL of a link does, if the link is made. */
const link =
  (fields: (hostile: string) => object) =>
  async ({ api, connection }: Target, hostile: string): Promise<ApiAnswer> => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const order = { operation: 'upload', connectionId: connection, path: '/', expiresAt, ...fields(hostile) };
    const made = await api.post('/api/links', order);
    if (made.status !== 201) return made;
    const { url } = made.json['link'] as { readonly url: string };
    return api.send(new URL(url).pathname, { method: 'PUT', query: { filename: 'linked.txt' }, body: 'planted' });
  };

/** For a folder that is made for it, and removed again. */
const edit =
  (fields: (hostile: string, connection: string) => object) =>
  async ({ api, connection, origin }: Target, hostile: string): Promise<ApiAnswer> => {
    const made = await api.post('/api/watched-folders', { connectionId: connection, path: '/', webhookUrl: origin });
    const target = `/api/watched-folders/${String(made.json['id'])}`;
    const answer = await api.send(target, { method: 'PATCH', json: fields(hostile, connection) });
    await api.send(target, { method: 'DELETE' });
    return answer;
  };

const raw =
  (field: 'path' | 'filename' | 'filename_template') =>
  ({ api, connection }: Target, hostile: string): Promise<ApiAnswer> =>
    api.send(`/api/upload/${connection}`, {
      method: 'POST',
      query: { filename: 'raw.txt', [field]: hostile },
      body: 'planted',
      headers: OCTETS,
    });

interface FormPlaces {
  readonly before?: Readonly<Record<string, string>>;
  readonly after?: Readonly<Record<string, string>>;
  readonly filename?: string;
}

function form({ api, connection }: Target, { before = {}, after = {}, filename = 'form.txt' }: FormPlaces) {
  const field = ([name, value]: [string, string]): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\n\r\nplanted\r\n`;
  const body = [...Object.entries(before).map(field), file, ...Object.entries(after).map(field), `--${BOUNDARY}--\r\n`];
  return api.send(`/api/upload/${connection}`, {
    method: 'POST',
    body: Buffer.from(body.join('')),
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
  });
}

/** What header fields can carry: Latin-1 without the characters that node:http itself refuses. */
// eslint-disable-next-line no-control-regex
const HEADER_CONTROLS = /[\u0000-\u001f\u007f]/g;
const asHeader = (text: string): string => Buffer.from(text).toString('latin1').replace(HEADER_CONTROLS, '');

const content = Buffer.from('planted').toString('base64');
const json = (fields: (hostile: string) => object) =>
  post('upload', (hostile) => ({ filename: 'json.txt', ...fields(hostile), content }));
const jsonLate = (fields: (hostile: string) => object) =>
  post('upload', (hostile) => ({ content, filename: 'json.txt', ...fields(hostile) }));
const fetched = (fields: (hostile: string) => object) =>
  post('upload', (hostile, { origin }) => ({ url: `${origin}/url.txt`, ...fields(hostile) }));

const UPLOAD = 'POST /api/upload/{connectionId}';
const JSON_BODY = 'application/json';
const FORM_BODY = 'multipart/form-data';

export const PATH_OPERANDS: readonly PathOperand[] = [
  {
    name: 'POST /api/links application/json path',
    kind: 'path',
    send: link((hostile) => ({ path: hostile })),
  },
  {
    name: 'POST /api/links application/json filename',
    kind: 'name',
    send: link((hostile) => ({ filename: hostile })),
  },
  { name: `${UPLOAD} query path`, kind: 'path', send: raw('path') },
  { name: `${UPLOAD} query filename`, kind: 'name', send: raw('filename') },
  { name: `${UPLOAD} query filename_template`, kind: 'name', send: raw('filename_template') },
  { name: `${UPLOAD} ${FORM_BODY} path`, kind: 'path', send: (target, path) => form(target, { before: { path } }) },
  {
    name: `${UPLOAD} ${FORM_BODY} filename`,
    kind: 'name',
    send: (target, filename) => form(target, { before: { filename } }),
  },
  {
    name: `${UPLOAD} ${FORM_BODY} filename_template`,
    kind: 'name',
    send: (target, template) => form(target, { before: { filename_template: template } }),
  },
  { name: 'form: path behind the file', kind: 'path', send: (target, path) => form(target, { after: { path } }) },
  {
    name: 'form: name behind the file',
    kind: 'name',
    send: (target, filename) => form(target, { after: { filename } }),
  },
  {
    name: 'form: the name of the part',
    kind: 'stripped',
    send: (target, hostile) => form(target, { filename: hostile.replace(/["\r\n]/g, '') }),
  },
  { name: `${UPLOAD} ${JSON_BODY} path`, kind: 'path', send: json((path) => ({ path })) },
  { name: `${UPLOAD} ${JSON_BODY} filename`, kind: 'name', send: json((filename) => ({ filename })) },
  {
    name: `${UPLOAD} ${JSON_BODY} filename_template`,
    kind: 'name',
    send: json((filename_template) => ({ filename_template })),
  },
  { name: 'JSON: path behind the content', kind: 'path', send: jsonLate((path) => ({ path })) },
  { name: 'JSON: name behind the content', kind: 'name', send: jsonLate((filename) => ({ filename })) },
  { name: 'url: path', kind: 'path', send: fetched((path) => ({ path })) },
  { name: 'url: filename', kind: 'name', send: fetched((filename) => ({ filename })) },
  {
    name: 'url: Content-Disposition of the origin',
    kind: 'stripped',
    send: post('upload', (hostile, { origin }) => ({
      url: `${origin}/x?disposition=${encodeURIComponent(`attachment; filename="${asHeader(hostile)}"`)}`,
    })),
  },
  {
    name: 'url: filename* of the origin',
    kind: 'stripped',
    send: post('upload', (hostile, { origin }) => ({
      url: `${origin}/x?disposition=${encodeURIComponent(`attachment; filename*=UTF-8''${encodeURIComponent(hostile)}`)}`,
    })),
  },
  {
    name: 'url: its last segment',
    kind: 'stripped',
    send: post('upload', (hostile, { origin }) => ({ url: `${origin}/folder/${encodeURIComponent(hostile)}` })),
  },
  {
    name: 'raw: Content-Disposition of the request',
    kind: 'stripped',
    send: ({ api, connection }, hostile) =>
      api.send(`/api/upload/${connection}`, {
        method: 'POST',
        body: 'planted',
        headers: { ...OCTETS, 'Content-Disposition': `attachment; filename="${asHeader(hostile).slice(0, 3000)}"` },
      }),
  },
  { name: 'GET /api/download/{connectionId} query path', kind: 'path', send: get('download') },
  { name: 'download as an archive', kind: 'path', send: get('download', 'path', { format: 'zip' }) },
  {
    name: 'the second path of an archive',
    kind: 'path',
    send: ({ api, connection }, hostile) =>
      api.get(`/api/download/${connection}?format=zip&path=${STANDING}&path=${encodeURIComponent(hostile)}`),
  },
  { name: 'download as JSON', kind: 'path', send: get('download', 'path', { format: 'json' }) },
  { name: 'HEAD /api/download/{connectionId} query path', kind: 'path', send: get('download', 'path', {}, 'HEAD') },
  { name: 'GET /api/read/{connectionId} query path', kind: 'path', send: get('read') },
  { name: 'GET /api/list/{connectionId} query path', kind: 'path', send: get('list') },
  { name: 'list of a tree', kind: 'path', send: get('list', 'path', { recursive: 'true' }) },
  { name: 'list in pages', kind: 'path', send: get('list', 'path', { recursive: 'true', limit: '2' }) },
  { name: 'GET /api/exists/{connectionId} query path', kind: 'path', send: get('exists') },
  {
    name: `POST /api/write/{connectionId} ${JSON_BODY} path`,
    kind: 'path',
    send: post('write', (path) => ({ path, content: 'planted' })),
  },
  {
    name: 'write: path behind the content',
    kind: 'path',
    send: post('write', (path) => ({ content: 'planted', path })),
  },
  {
    name: `POST /api/append/{connectionId} ${JSON_BODY} path`,
    kind: 'path',
    send: post('append', (path) => ({ path, content: 'planted' })),
  },
  {
    name: `POST /api/delete/{connectionId} ${JSON_BODY} path`,
    kind: 'path',
    send: post('delete', (path) => ({ path })),
  },
  { name: `POST /api/mkdir/{connectionId} ${JSON_BODY} path`, kind: 'path', send: post('mkdir', (path) => ({ path })) },
  {
    name: `POST /api/move/{connectionId} ${JSON_BODY} from`,
    kind: 'path',
    send: post('move', (from) => ({ from, to: '/moved.txt', overwrite: true })),
  },
  {
    name: `POST /api/move/{connectionId} ${JSON_BODY} to`,
    kind: 'path',
    send: async (target, to) => {
      // The move before this one may have succeeded.
      await target.api.post(`/api/write/${target.connection}`, { path: STANDING, content: 'standing' });
      return post('move', () => ({ from: STANDING, to, overwrite: true }))(target, to);
    },
  },
  {
    name: `POST /api/copy ${JSON_BODY} source_path`,
    kind: 'path',
    send: copy((source_path) => ({ source_path, dest_path: '/copied.txt' })),
  },
  {
    name: `POST /api/copy ${JSON_BODY} dest_path`,
    kind: 'path',
    send: copy((dest_path) => ({ source_path: STANDING, dest_path })),
  },
  {
    name: `POST /api/copy ${JSON_BODY} filename_template`,
    kind: 'name',
    send: copy((filename_template) => ({ source_path: STANDING, dest_path: '/copied.txt', filename_template })),
  },
  {
    name: `POST /api/watched-folders ${JSON_BODY} path`,
    kind: 'path',
    send: ({ api, connection }, path) => api.post('/api/watched-folders', { connectionId: connection, path }),
  },
  {
    name: `POST /api/watched-folders ${JSON_BODY} moveTo`,
    kind: 'path',
    send: ({ api, connection, origin }, moveTo) =>
      api.post('/api/watched-folders', {
        connectionId: connection,
        path: '/',
        webhookUrl: origin,
        afterDelivery: 'move',
        moveTo,
      }),
  },
  {
    name: 'copyTo: path',
    kind: 'path',
    send: ({ api, connection }, path) =>
      api.post('/api/watched-folders', {
        connectionId: connection,
        path: '/',
        copyTo: { connectionId: connection, path },
      }),
  },
  {
    name: 'copyTo: filename_template',
    kind: 'name',
    send: edit((filename_template, connectionId) => ({
      copyTo: { connectionId, path: '/copies', filename_template },
    })),
  },
  {
    name: `PATCH /api/watched-folders/{id} ${JSON_BODY} path`,
    kind: 'path',
    send: edit((path) => ({ path })),
  },
  {
    name: `PATCH /api/watched-folders/{id} ${JSON_BODY} moveTo`,
    kind: 'path',
    send: edit((moveTo) => ({ afterDelivery: 'move', moveTo })),
  },
];

/** Texts of requests that name no file: every other text of a schema must be an operand above, or be here. */
export const NO_PATHS: ReadonlySet<string> = new Set([
  ...['content', 'url', 'encoding', 'format', 'command', 'file'],
  ...[
    'connection_id',
    'source_connection_id',
    'dest_connection_id',
    'connectionId',
    'status',
    'type',
    'since',
    'until',
    'mtime',
    'digest',
    'link_id',
    'linkId',
    'scheduleId',
    'expiresAt',
    'note',
  ],
  // Spells the last name of the path beside it, or is refused (paths.test.ts).
  ...['rawName', 'source_raw_name'],
  // Signed by the gateway; another use is refused (cursors.test.ts).
  'cursor',
  // Globs and markers are compared with names of a listing; nothing is opened by them.
  'pattern',
  ...[
    'name',
    'webhookUrl',
    'cron',
    'timeZone',
    'filePattern',
    'excludePattern',
    'doneFile',
    'initial',
    'afterDelivery',
  ],
]);
