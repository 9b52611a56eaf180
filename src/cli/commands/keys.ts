/** `ftg keys`: API keys of the account. */
import { apiKeyFields } from '../../contract/api-key.js';
import { type Session, shows } from '../command.js';
import { givenFieldsOf } from '../field-options.js';
import type { Schemas } from '../gateway.js';
import { fields, listed, timeText } from '../output.js';

type ApiKey = Schemas['ApiKey'];

export const listKeys = shows(
  ({ gateway }) => gateway.manage.get<Schemas['ApiKeysAnswer']>('api-keys'),
  ({ apiKeys }) =>
    listed(
      apiKeys,
      {
        ID: 'id',
        NAME: 'name',
        STATE: 'state',
        SCOPES: ({ scopes }) => scopes.join(','),
        CONNECTIONS: ({ connections }) => (connections.length === 0 ? 'all' : connections.join(',')),
        EXPIRES: 'expiresAt',
        'LAST USED': 'lastUsedAt',
        FROM: 'source',
      },
      'no keys',
    ),
);

export const createKey = shows(
  ({ gateway }, [name], options: object) =>
    gateway.manage.post<Schemas['NewKeyAnswer']>('api-keys', { ...rightsOf(options), name }),
  ({ key, apiKey }, _, out) => shownOnce(out, key, apiKey),
);

export const editKey = shows(
  ({ gateway }, [id = ''], options: object) => gateway.manage.patch<ApiKey>(at(id), rightsOf(options)),
  fields,
);

export const rotateKey = shows(
  ({ gateway }, [id = ''], { overlap }: { readonly overlap?: number }) =>
    gateway.manage.post<Schemas['RotatedKeyAnswer']>(`${at(id)}/rotate`, { overlapMinutes: overlap }),
  ({ key, apiKey, previous }, _, out) => {
    out.note(`the former key works until ${timeText(previous.expiresAt)}`);
    return shownOnce(out, key, apiKey);
  },
);

export const revokeKey = shows(
  ({ gateway }, [id = '']) => gateway.manage.delete<Schemas['RevokedKeyAnswer']>(at(id)),
  ({ apiKey, comesBack }) => {
    const back = comesBack ? '; the next start gives it back, unless it is taken out of the configuration' : '';
    return `${apiKey.name} is revoked${back}`;
  },
);

export const listS3Keys = shows(
  ({ gateway }) => gateway.manage.get<Schemas['ApiKeysAnswer']>('api-keys'),
  ({ apiKeys }) =>
    listed(
      apiKeys.flatMap(({ id, name, s3 }) => s3.map((pair) => ({ ...pair, id, name }))),
      { 'ACCESS KEY': 'accessKeyId', MADE: 'createdAt', KEY: 'name', 'KEY ID': 'id' },
      'no S3 access keys',
    ),
);

/** The variables that programs for S3 read. */
export const createS3Key = shows(
  ({ gateway }, [id = '']) => gateway.manage.post<Schemas['NewS3AccessKey']>(`${at(id)}/s3`),
  ({ accessKeyId, secretAccessKey, apiKey }, _, out) => {
    out.note(`S3 access key of ${apiKey.name}; its secret is shown only once:`);
    return `AWS_ACCESS_KEY_ID=${accessKeyId}\nAWS_SECRET_ACCESS_KEY=${secretAccessKey}`;
  },
);

export const deleteS3Key = shows(
  ({ gateway }, [id = '', accessKeyId = '']) =>
    gateway.manage.delete<ApiKey>(`${at(id)}/s3/${encodeURIComponent(accessKeyId)}`),
  ({ name }) => `the S3 access key of ${name} is deleted`,
);

/** Only the key goes to standard output, so that scripts can read it. */
function shownOnce(out: Session['out'], key: string, { id, name }: ApiKey): string {
  out.note(`key ${name} (${id}); it is shown only once:`);
  return key;
}

function rightsOf(options: object): object {
  const given = givenFieldsOf(apiKeyFields, options);
  return given['expiresAt'] === 'never' ? { ...given, expiresAt: null } : given;
}

const at = (id: string): string => `api-keys/${encodeURIComponent(id)}`;
