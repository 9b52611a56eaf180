/** What stands in the form of a connection, and the requests that follow from it. */
import type { Connection, Protocol } from '../../api/types.ts';

export type LoginWith = 'password' | 'key' | 'pair';

/** Every field of every type, as text where it is typed; a change of the type keeps what was entered. */
export interface Draft {
  readonly type: Protocol;
  readonly name: string;
  readonly id: string;
  readonly host: string;
  readonly port: string;
  readonly username: string;
  readonly password: string;
  readonly loginWith: LoginWith;
  readonly privateKey: string;
  readonly passphrase: string;
  readonly keyPairId: string;
  readonly algorithms: string;
  readonly hostKeys: string;
  readonly tls: string;
  readonly tlsVerify: boolean;
  readonly tlsCa: string;
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly forcePathStyle: boolean;
  readonly uploader: 'streamed' | 'sdk';
  readonly prefix: string;
  readonly defaultPath: string;
  readonly rootPath: string;
  readonly atomicUploads: boolean;
  readonly maxSessions: string;
  readonly stallTimeoutMs: string;
}

export const NEW_DRAFT: Draft = {
  type: 'sftp',
  name: '',
  id: '',
  host: '',
  port: '',
  username: '',
  password: '',
  loginWith: 'password',
  privateKey: '',
  passphrase: '',
  keyPairId: '',
  algorithms: 'default',
  hostKeys: '',
  tls: 'explicit',
  tlsVerify: true,
  tlsCa: '',
  endpoint: '',
  region: 'us-east-1',
  bucket: '',
  accessKeyId: '',
  secretAccessKey: '',
  sessionToken: '',
  forcePathStyle: true,
  uploader: 'streamed',
  prefix: '',
  defaultPath: '',
  rootPath: '/',
  atomicUploads: true,
  maxSessions: '',
  stallTimeoutMs: '',
};

export function draftOf(connection: Connection): Draft {
  const { keyPairId = null, secrets, pool } = connection;
  return {
    ...NEW_DRAFT,
    type: connection.type,
    name: connection.name,
    id: connection.id,
    host: connection.host ?? '',
    port: connection.port === undefined ? '' : String(connection.port),
    username: connection.username ?? '',
    loginWith: keyPairId !== null ? 'pair' : secrets['privateKey'] === true ? 'key' : 'password',
    keyPairId: keyPairId ?? '',
    algorithms: connection.algorithms ?? 'default',
    hostKeys: connection.hostKeysLearned === true ? '' : (connection.hostKeys ?? []).join('\n'),
    tls: connection.tls ?? 'explicit',
    tlsVerify: connection.tlsVerify ?? true,
    tlsCa: connection.tlsCa ?? '',
    endpoint: connection.endpoint ?? '',
    region: connection.region ?? 'us-east-1',
    bucket: connection.bucket ?? '',
    accessKeyId: connection.accessKeyId ?? '',
    forcePathStyle: connection.forcePathStyle ?? true,
    uploader: connection.uploader ?? 'streamed',
    prefix: connection.prefix ?? '',
    defaultPath: connection.defaultPath ?? '',
    rootPath: connection.rootPath ?? '/',
    atomicUploads: connection.atomicUploads ?? true,
    maxSessions: pool.maxSessions === undefined ? '' : String(pool.maxSessions),
    stallTimeoutMs: pool.stallTimeoutMs === undefined ? '' : String(pool.stallTimeoutMs),
  };
}

export type ConnectionInput = Record<string, unknown>;

/** Everything the form says; secrets only where they were typed. */
export function inputOf(draft: Draft, known: Connection | undefined): ConnectionInput {
  return {
    name: draft.name.trim(),
    type: draft.type,
    ...(draft.id.trim() === '' ? {} : { id: draft.id.trim() }),
    defaultPath: orNull(draft.defaultPath),
    pool: {
      ...known?.pool,
      maxSessions: numberOrAbsent(draft.maxSessions),
      stallTimeoutMs: numberOrAbsent(draft.stallTimeoutMs),
    },
    ...(draft.type === 's3' ? s3Fields(draft) : serverFields(draft)),
    ...(draft.type === 'sftp' ? sftpFields(draft, known) : {}),
    ...(draft.type === 'ftp' ? { ...secret('password', draft.password), tls: draft.tls } : {}),
    ...(draft.type === 'sftp' ? {} : { tlsVerify: draft.tlsVerify, tlsCa: orNull(draft.tlsCa) }),
  };
}

/** The fields of an edit that differ from what is kept. */
export function changesOf(draft: Draft, known: Connection): ConnectionInput {
  const before = inputOf(draftOf(known), known);
  const { id: _id, type: _type, ...after } = inputOf(draft, known);
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}

/** Whether the change goes to another server, to which no stored secret may be sent. */
export function changesServer(draft: Draft, known: Connection): boolean {
  const before = draftOf(known);
  return draft.host !== before.host || draft.port !== before.port || draft.endpoint !== before.endpoint;
}

function serverFields({ host, port, username, rootPath, atomicUploads }: Draft): ConnectionInput {
  return {
    host: host.trim(),
    ...(port.trim() === '' ? {} : { port: Number(port) }),
    username: username.trim(),
    rootPath: rootPath.trim() === '' ? '/' : rootPath.trim(),
    atomicUploads,
  };
}

function sftpFields(draft: Draft, known: Connection | undefined): ConnectionInput {
  const { loginWith, algorithms, hostKeys } = draft;
  const drop = (name: string): ConnectionInput => (known?.secrets[name] === true ? { [name]: null } : {});
  const login =
    loginWith === 'pair'
      ? { keyPairId: orNull(draft.keyPairId), ...drop('privateKey'), ...drop('passphrase') }
      : loginWith === 'key'
        ? { keyPairId: null, ...secret('privateKey', draft.privateKey), ...secret('passphrase', draft.passphrase) }
        : { keyPairId: null, ...drop('privateKey'), ...drop('passphrase') };
  const pins = hostKeys.split(/\s+/).filter(Boolean);
  const isLearned = known?.hostKeysLearned === true && pins.length === 0;
  return { ...login, ...secret('password', draft.password), algorithms, ...(isLearned ? {} : { hostKeys: pins }) };
}

function s3Fields(draft: Draft): ConnectionInput {
  return {
    endpoint: orNull(draft.endpoint),
    region: draft.region.trim(),
    bucket: draft.bucket.trim(),
    accessKeyId: draft.accessKeyId.trim(),
    forcePathStyle: draft.forcePathStyle,
    uploader: draft.uploader,
    prefix: draft.prefix.trim(),
    ...secret('secretAccessKey', draft.secretAccessKey),
    ...secret('sessionToken', draft.sessionToken),
  };
}

const secret = (name: string, value: string): ConnectionInput => (value === '' ? {} : { [name]: value });
const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());
const numberOrAbsent = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text));
