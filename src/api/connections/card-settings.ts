/** What is set on a connection, for its card: each field that is rarely changed and differs from its default. */
import { isDeepStrictEqual } from 'node:util';
import { type Static, Type } from 'typebox';
import { hoursState } from '../../base/hours.js';
import { readSshCertificate } from '../../connections/ssh-certificate.js';
import type { Values } from '../../contract/connection/definition.js';
import { definitionOf } from '../../contract/connection/types.js';
import { listOf, object, text } from '../../contract/schema.js';
import type { ManagedConnection } from '../../storage/storage.js';

const cardSetting = object('CardSetting', {
  name: text('The field with its value.'),
  facts: Type.Record(Type.String(), Type.String(), {
    description:
      'What follows from it. `via`: `name`, `address`; `hours`: `opensAt` or `closesAt`; `certificate`: `keyId`, `principals`, `validUntil`.',
  }),
});
export const cardSettings = listOf(cardSetting, 'The advanced settings that differ from their defaults.');

type CardSetting = Static<typeof cardSetting>;
type Facts = CardSetting['facts'];
type Find = (id: string) => Promise<ManagedConnection | undefined>;

/** `find`: another connection of the account. */
export async function cardSettingsOf(connection: ManagedConnection, find: Find): Promise<readonly CardSetting[]> {
  const stored: Values = { ...connection.settings };
  const set = Object.entries(definitionOf(connection).settings).filter(
    ([name, { isAdvanced, default: usual }]) => isAdvanced === true && !isDeepStrictEqual(stored[name] ?? usual, usual),
  );
  return Promise.all(set.map(async ([name]) => ({ name, facts: await factsOf(name, stored[name], find) })));
}

async function factsOf(name: string, value: unknown, find: Find): Promise<Facts> {
  if (typeof value !== 'string') return {};
  switch (name) {
    case 'via':
      return serverOf(await find(value));
    case 'hours':
      return hoursFacts(value);
    case 'certificate':
      return certificateFacts(value);
    default:
      return {};
  }
}

function serverOf(jump: ManagedConnection | undefined): Facts {
  if (jump === undefined) return {};
  const { host, port }: Values = { ...jump.settings };
  return { name: jump.name, address: `${String(host)}:${String(port)}` };
}

function hoursFacts(hours: string): Facts {
  const times = Object.entries(hoursState(hours, Date.now()));
  return Object.fromEntries(times.map(([name, time]) => [name, time.toISOString()] as const));
}

/** A certificate without an end has the largest number there. */
const LAST_MS = 8_640_000_000_000_000n;

function certificateFacts(line: string): Facts {
  try {
    const { keyId, principals, validBefore } = readSshCertificate(line);
    const endMs = validBefore * 1000n;
    return {
      keyId,
      ...(principals.length === 0 ? {} : { principals: principals.join(', ') }),
      ...(endMs > LAST_MS ? {} : { validUntil: new Date(Number(endMs)).toISOString() }),
    };
  } catch (error) {
    // A stored one may be older than its checks: the login says what is wrong.
    if (error instanceof RangeError) return {};
    throw error;
  }
}
