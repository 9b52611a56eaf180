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

/** Only the key goes to standard output, so that scripts can read it. */
function shownOnce(out: Session['out'], key: string, { id, name }: ApiKey): string {
  out.note(`key ${name} (${id}); it is shown this once:`);
  return key;
}

function rightsOf(options: object): object {
  const given = givenFieldsOf(apiKeyFields, options);
  return given['expiresAt'] === 'never' ? { ...given, expiresAt: null } : given;
}

const at = (id: string): string => `api-keys/${encodeURIComponent(id)}`;
