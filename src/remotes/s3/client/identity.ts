/** Whose keys sign the requests of a connection: its own, the gateway's, or those of a role. */
import { accessKeyIn, type AwsEnvironment, variableOf } from '../../../base/aws-environment.js';
import { hasCode } from '../../../base/errors.js';
import { assumeRole, assumeRoleWithWebIdentity, type StsOptions, type WebIdentity } from './assume-role.js';
import {
  type Credentials,
  FixedCredentials,
  type HeldKeys,
  RenewedCredentials,
  type TemporaryKeys,
} from './credentials.js';
import { instanceKeys } from './instance-keys.js';
import { loginRefused, namedFile, notSet } from './named-file.js';

interface IdentityOptions extends StsOptions {
  readonly env: AwsEnvironment;
  /** Is notified whose keys were issued, in words. */
  readonly identified: (identity: string) => void;
  /** Is notified of a renewal that failed while the keys are valid. */
  readonly failed: (error: Error) => void;
}

const STS_ENDPOINT = 'AWS_ENDPOINT_URL_STS';

/** @throws GatewayError login_refused: the connection may not use such keys, or there are none */
export function credentialsOf(options: IdentityOptions): Credentials {
  const { connection, identified, failed } = options;
  const { role } = connection;
  const isOwn = connection.credentials === 'static';
  if (isOwn && connection.accessKeyId === '') throw loginRefused('the connection has no access key: enter one');
  // The origin of its row is also checked: write access to the database must not give the identity of the gateway.
  if (!isOwn && connection.isConfigured !== true) {
    throw loginRefused(`credentials ${connection.credentials} is only for connections of the configuration file`);
  }
  const announced = (issue: () => Promise<TemporaryKeys>) => async (): Promise<TemporaryKeys> => {
    const keys = await issue();
    identified(wordsOf(keys));
    return keys;
  };
  const source = sourceOf(options);
  if (role !== undefined) {
    const own = typeof source === 'function' ? new RenewedCredentials(source, failed) : new FixedCredentials(source);
    return new RenewedCredentials(
      announced(async () => {
        const keys = own.atHand() ?? (await own.get());
        const issued = await assumeRole(role, keys, options).catch((error: unknown) => {
          if (hasCode(error, 'login_refused')) own.refused();
          throw error;
        });
        return { ...issued, holder: `the role ${role.arn}, by ${wordsOf(keys)}` };
      }),
      failed,
    );
  }
  if (typeof source === 'function') return new RenewedCredentials(announced(source), failed);
  if (!isOwn) identified(wordsOf(source));
  return new FixedCredentials(source);
}

/** Keys that stay, or what issues them. */
function sourceOf(options: IdentityOptions): HeldKeys | (() => Promise<TemporaryKeys>) {
  const { connection, env, timeoutMs } = options;
  const { accessKeyId, secretAccessKey, sessionToken } = connection;
  switch (connection.credentials) {
    case 'static':
      return { accessKeyId, secretAccessKey, sessionToken };
    case 'environment':
      return { ...accessKeyIn(env, notSet), holder: 'the environment' };
    case 'instance':
      return () => instanceKeys(env, timeoutMs);
    case 'webIdentity':
      return () => webIdentityKeys(options);
  }
}

async function webIdentityKeys(options: IdentityOptions): Promise<TemporaryKeys> {
  const identity = await webIdentityIn(options);
  const keys = await assumeRoleWithWebIdentity(identity, options);
  return { ...keys, holder: `the role ${identity.arn} by web identity` };
}

/** The token changes from time to time. */
async function webIdentityIn({ env, connection: { role } }: IdentityOptions): Promise<WebIdentity> {
  const arn = variableOf(env, 'AWS_ROLE_ARN');
  if (arn === undefined) throw notSet('AWS_ROLE_ARN');
  const endpoint = variableOf(env, STS_ENDPOINT) ?? role?.endpoint;
  if (endpoint !== undefined && !/^https?:/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '')) {
    throw loginRefused(`the environment variable ${STS_ENDPOINT} is no http or https URL`);
  }
  const token = await namedFile(env, 'AWS_WEB_IDENTITY_TOKEN_FILE');
  return { arn, sessionName: variableOf(env, 'AWS_ROLE_SESSION_NAME'), token, endpoint };
}

function wordsOf({ accessKeyId, holder }: HeldKeys): string {
  return `access key ${accessKeyId}${holder === undefined ? '' : ` of ${holder}`}`;
}
