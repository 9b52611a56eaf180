/** The environment variables that all programs of AWS know. */
import type { Keys } from './aws-signature.js';

/** AWS_ACCESS_KEY_ID and others. */
export type AwsEnvironment = Readonly<Record<string, string | undefined>>;

/** The value of a variable; undefined if it is not set, or empty. */
export function variableOf(env: AwsEnvironment, name: string): string | undefined {
  const value = env[name] ?? '';
  return value === '' ? undefined : value;
}

/** The access key of the process. `missing` makes the error for a variable that is not set. */
export function accessKeyIn(env: AwsEnvironment, missing: (name: string) => Error): Keys {
  const needed = (name: string): string => {
    const value = variableOf(env, name);
    if (value === undefined) throw missing(name);
    return value;
  };
  return {
    accessKeyId: needed('AWS_ACCESS_KEY_ID'),
    secretAccessKey: needed('AWS_SECRET_ACCESS_KEY'),
    sessionToken: variableOf(env, 'AWS_SESSION_TOKEN'),
  };
}
