/**
 * A connection in the form for its owner: settings, names of the secrets that are set, and the result of its last test.
 */
import { Type } from 'typebox';
import { requireConnection } from '../../connections/require.js';
import { component } from '../../contract/schema.js';
import { type Values } from '../../contract/connection/definition.js';
import { shownFieldsOf } from '../../contract/connection/schemas.js';
import { exampleOf } from '../../contract/thing.js';
import { sftp } from '../../contract/connection/sftp.js';
import { CONNECTION_TYPES } from '../../contract/connection/types.js';
import { connectionView } from './connection-input.js';
import { FINGERPRINT_EXAMPLE, LATER, TIME } from '../../contract/examples.js';
import { type AtItem, type Services } from '../services.js';
import { connectionAnswers } from './schemas.js';

/** The fields depend on the type. */
export const managedConnection = component(
  'ManagedConnection',
  Type.Unsafe<Values>({ oneOf: Object.values(connectionAnswers(CONNECTION_TYPES)) }),
);

export const sampleInput = {
  id: 'warehouse',
  name: 'Warehouse',
  type: 'sftp',
  host: 'sftp.example.com',
  username: 'gw',
  password: 'secret',
  defaultPath: '/upload',
};
export const sample = exampleOf(
  shownFieldsOf(sftp),
  {
    ...sftp.example,
    type: 'sftp',
    source: 'dashboard',
    secrets: { password: true, proxyPassword: false, privateKey: false, passphrase: false },
    hostKeys: [FINGERPRINT_EXAMPLE],
    hostKeysLearned: true,
    createdAt: TIME,
    updatedAt: TIME,
    lastTest: {
      testedAt: LATER,
      isOk: false,
      failedStep: 'login',
      error: 'the server refused the login',
      errorCode: 'login_refused',
    },
  },
  'owner',
);

/** For endpoints that answer with the current connection. */
export const shownAnswer = { schema: managedConnection, example: sample };
export const madeAnswer = { status: 201, description: 'Made.', ...shownAnswer };
export const EDIT_ERRORS = ['unknown_connection', 'from_configuration'] as const;

/** @throws GatewayError unknown_connection */
export async function shownConnection(
  { storage }: Services,
  { caller }: Pick<AtItem, 'caller'>,
  id: string,
): Promise<Values> {
  return connectionView(await requireConnection(storage.management.connections, caller.accountId, id));
}
