/** Files with tokens, whose names are in environment variables. */
import { type AwsEnvironment, variableOf } from '../../../base/aws-environment.js';
import { GatewayError, toGatewayError } from '../../../base/errors.js';
import { readSecretFile } from '../../../connections/secrets/secret-file.js';

/** The token in the file, read again. @throws GatewayError login_refused, which names the variable, not the file */
export async function namedFile(env: AwsEnvironment, name: string): Promise<string> {
  const file = variableOf(env, name);
  if (file === undefined) throw notSet(name);
  const token = (await contentOf(file, name)).trim();
  if (token === '') throw loginRefused(`the file that ${name} names is empty`);
  return token;
}

export function notSet(name: string): GatewayError {
  return loginRefused(`the environment variable ${name} of the gateway is not set`);
}

async function contentOf(file: string, name: string): Promise<string> {
  try {
    return await readSecretFile(file);
  } catch (error) {
    throw loginRefused(`the file that ${name} names: ${toGatewayError(error).message}`);
  }
}

/** The login of a store cannot be made. */
export function loginRefused(text: string): GatewayError {
  return new GatewayError('login_refused', text, { step: 'login' });
}
