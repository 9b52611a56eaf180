/** A connection in its flat form, as the API shows and takes it ⇄ settings and secrets, as they are stored. */
import tls from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { FORMATS } from '../../config/formats.js';
import { createChecker } from '../../http/schema-check.js';
import { excessOf, wordsOf } from '../../connections/private-key-bounds.js';
import type { Connection, ConnectionType } from '../../connections/connection.js';
import {
  endpointOf,
  SECRET_NAMES,
  type SecretName,
  type SecretValues,
  type Settings,
} from '../../storage/tables/connection-rows.js';
import type { ConnectionDraft, ManagedConnection, SecretChanges } from '../../storage/tables/connection-editor.js';
import { CONNECTION_TYPES, patchOf } from './connection-schemas.js';
import { badField } from './services.js';

/** As the schemas let it through: the fields of its type and no others. */
export type ConnectionInput = Readonly<Record<string, unknown>> & {
  readonly id?: string;
  readonly name: string;
  readonly type: ConnectionType;
  readonly isActive: boolean;
  readonly hostKeys?: readonly string[];
  readonly keyPairId?: string | null;
};

const OWN_SECRETS: Readonly<Record<ConnectionType, readonly SecretName[]>> = {
  sftp: ['password', 'privateKey', 'passphrase'],
  ftp: ['password'],
  s3: ['secretAccessKey', 'sessionToken'],
};

const checkPatch = Object.fromEntries(
  CONNECTION_TYPES.map((type) => [type, createChecker<Record<string, unknown>>(patchOf(type), 'the body')]),
);

/** @throws GatewayError bad_request */
export function draftOf(input: ConnectionInput): ConnectionDraft {
  checkServer(input);
  checkPrivateKey(input);
  return {
    id: input.id,
    name: input.name,
    type: input.type,
    isActive: input.isActive,
    settings: settingsOf(input),
    secrets: secretsOf(input),
    hostKeys: input.hostKeys,
    keyPairId: input.keyPairId ?? null,
  };
}

/**
 * `patch` laid over what is stored. @throws GatewayError bad_request, also when the server changes and the password
 * was not given again: else whoever may edit could have a stored one sent to a server of his own.
 */
export function editedDraft(stored: ManagedConnection, patch: Readonly<Record<string, unknown>>): ConnectionDraft {
  const changes = checkPatch[stored.type]?.(patch) ?? {};
  const draft = draftOf({
    ...flatSettings(stored),
    isActive: stored.isActive,
    keyPairId: stored.keyPairId,
    ...changes,
  });
  // A private key of one's own takes the place of the generated one.
  const keyPairId =
    typeof changes['privateKey'] === 'string' && changes['keyPairId'] === undefined ? null : draft.keyPairId;
  requireSecretsAgain(stored, draft);
  return { ...draft, keyPairId };
}

/**
 * Where stored secrets may go. The account's own password only to the server that it was given for; keys only sign, and
 * what they sign is bound to one server. The operator's secrets, which came from the configuration file, only where the
 * operator sent them: to that server, as that user, below that root. @throws GatewayError bad_request; see editedDraft
 */
export function requireSecretsAgain(stored: ManagedConnection, draft: ConnectionDraft): void {
  if (stored.hasConfiguredSecrets && !hasSameReach(stored, draft)) {
    const open = stored.secrets.find((name) => draft.secrets[name as SecretName] === undefined);
    if (open !== undefined) {
      throw badField(open, 'must be given: the one of the configuration file is for its own server and root alone');
    }
  }
  if (endpointOf(stored.settings) === endpointOf(draft.settings)) return;
  if (!stored.secrets.includes('password') || draft.secrets.password !== undefined) return;
  throw badField('password', 'must be given again (or null), because the server has changed');
}

/** What a login opens is the same, and who is trusted to be the server. */
function hasSameReach(stored: ManagedConnection, { settings, hostKeys }: ConnectionDraft): boolean {
  const reach = ({ defaultPath: _path, pool: _pool, atomicUploads: _atomic, ...rest }: Settings) => rest;
  return (
    isDeepStrictEqual(reach(stored.settings), reach(settings)) &&
    (hostKeys === undefined || isDeepStrictEqual([...hostKeys].sort(), [...stored.hostKeys].sort()))
  );
}

/** The Connection that a draft would be, with secrets that it leaves open taken from `base`. */
export function secretValues(draft: ConnectionDraft, base: Connection | undefined): SecretValues {
  const stored: Readonly<Record<string, unknown>> = { ...base };
  const values: Partial<Record<SecretName, string>> = {};
  for (const name of OWN_SECRETS[draft.type]) {
    const given = draft.secrets[name];
    const value = given === undefined ? stored[name] : given;
    if (typeof value === 'string' && value !== '') values[name] = value;
  }
  return values;
}

/** As the API shows it: everything but the secrets. */
export function connectionView(connection: ManagedConnection): Record<string, unknown> {
  const { type, secrets, lastTest } = connection;
  return {
    ...flatSettings(connection),
    isActive: connection.isActive,
    source: connection.isConfigured ? 'configuration' : 'dashboard',
    ...(type === 'sftp'
      ? {
          keyPairId: connection.keyPairId,
          hostKeys: connection.hostKeys,
          hostKeysLearned: connection.hostKeysLearned,
        }
      : {}),
    secrets: Object.fromEntries(OWN_SECRETS[type].map((name) => [name, secrets.includes(name)])),
    createdAt: connection.createdAt,
    updatedAt: connection.updatedAt,
    lastTest:
      lastTest === null
        ? null
        : {
            testedAt: lastTest.testedAt,
            isOk: lastTest.isOk,
            failedStep: lastTest.failedStep,
            error: lastTest.error,
          },
  };
}

function flatSettings({ id, name, type, settings }: ManagedConnection): ConnectionInput {
  const { ...flat }: Readonly<Record<string, unknown>> = { ...settings };
  return { id, name, type, isActive: true, ...flat };
}

const SETTINGS: Readonly<Record<ConnectionType, readonly string[]>> = {
  sftp: ['defaultPath', 'pool', 'rootPath', 'atomicUploads', 'host', 'port', 'username', 'algorithms'],
  ftp: ['defaultPath', 'pool', 'rootPath', 'atomicUploads', 'host', 'port', 'username', 'tls', 'tlsVerify', 'tlsCa'],
  s3: [
    'defaultPath',
    'pool',
    'endpoint',
    'region',
    'bucket',
    'accessKeyId',
    'forcePathStyle',
    'uploader',
    'tlsVerify',
    'tlsCa',
  ],
};

function settingsOf(input: ConnectionInput): Settings {
  const fields = Object.fromEntries(SETTINGS[input.type].map((name) => [name, input[name]]));
  const fixed =
    input.type === 's3' ? { rootPath: '/', atomicUploads: true, prefix: folderPrefix(input['prefix']) } : {};
  // The schema of the type has let through these fields alone, and filled in those that were left out.
  return { ...fields, ...fixed } as unknown as Settings;
}

function secretsOf(input: ConnectionInput): SecretChanges {
  const changes: Partial<Record<SecretName, string | null>> = {};
  for (const name of SECRET_NAMES) {
    const value = input[name];
    if (value === null || typeof value === 'string') changes[name] = value;
  }
  if (input.type === 's3' && changes.secretAccessKey === null) throw badField('secretAccessKey', 'must not be null');
  return changes;
}

function checkServer(input: ConnectionInput): void {
  const { host, endpoint, tlsCa } = input;
  if (typeof host === 'string' && !FORMATS.host(host)) {
    throw badField('host', 'must be a host name or an IP address, without protocol and port');
  }
  if (typeof endpoint === 'string' && (endpoint === '' || !FORMATS['http-url-or-empty'](endpoint))) {
    throw badField('endpoint', 'must be an http or https URL without login and query, or null for AWS');
  }
  if (typeof tlsCa !== 'string') return;
  try {
    if (!tlsCa.includes('-----BEGIN CERTIFICATE-----')) throw new Error('no certificate');
    tls.createSecureContext({ ca: tlsCa });
  } catch {
    throw badField('tlsCa', 'must hold certificates in PEM form, or be null');
  }
}

function checkPrivateKey({ privateKey }: ConnectionInput): void {
  const excess = typeof privateKey === 'string' ? excessOf(privateKey) : undefined;
  if (excess !== undefined) throw badField('privateKey', `cannot be used: ${wordsOf(excess)}`);
}

/** "" or a key prefix ending in "/", without a leading one. */
function folderPrefix(prefix: unknown): string {
  const trimmed = (typeof prefix === 'string' ? prefix : '').replace(/^\/+/, '');
  return trimmed === '' || trimmed.endsWith('/') ? trimmed : `${trimmed}/`;
}
