import type { AwsEnvironment } from '../../base/aws-environment.js';
import { AwsSecrets, type AwsSettings } from './aws.js';
import { readSecretFile } from './secret-file.js';
import type { ReadSecret } from './referenced-secrets.js';
import { unreadable } from './unreadable.js';
import { Vault, type VaultSettings } from './vault.js';

interface Sources {
  readonly vault: VaultSettings;
  readonly aws: AwsSettings;
}

/** Reads the secrets that references name: `source:place`. */
export function createSecretReader(sources: Sources, env: AwsEnvironment): ReadSecret {
  const vault = new Vault(sources.vault);
  const aws = new AwsSecrets(sources.aws, env);
  return async (reference) => {
    const [source, place] = divided(reference, ':');
    if (source === 'file') return readSecretFile(place);
    if (source === 'vault') return vault.read(...divided(place, '#'));
    if (source === 'aws') return aws.read(...divided(place, '#'));
    throw unreadable(`names no known source: ${source}`);
  };
}

/** What is before and after the first separator. */
function divided(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
