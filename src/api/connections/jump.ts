/** The jump host of a connection, as it is entered, and the connections behind one. */
import { refusal } from '../../base/errors.js';
import type { SftpConnection } from '../../connections/connection.js';
import { hasOperatorsLogin } from '../../connections/require.js';
import { addressFor, addressOf } from '../../contract/connection/definition.js';
import { MOST_HOPS } from '../../contract/connection/fields.js';
import { definitionOf } from '../../contract/connection/types.js';
import type { ConnectionDraft, ManagedConnection } from '../../storage/storage.js';
import { badField, type Services } from '../services.js';

/** The connection that `via` names. @throws GatewayError bad_request: it cannot be a jump host for this one */
export async function requireJump(
  { storage }: Pick<Services, 'storage'>,
  accountId: string,
  { id, settings: { via } }: Pick<ConnectionDraft, 'id' | 'settings'>,
): Promise<SftpConnection | undefined> {
  if (via === null) return undefined;
  const named = await storage.connections.find(accountId, via);
  if (named?.type !== 'sftp') throw badField('via', `must be the id of an SFTP connection, or null; ${via} is none`);
  if (hasOperatorsLogin(named)) {
    throw badField(
      'via',
      `must not be ${via}: it comes from the configuration file, whose logins are for their own servers`,
    );
  }
  if (wayThrough(named).some((hop) => hop.id === id)) {
    throw badField('via', `must not lead in a circle: ${via} leads through ${id}`);
  }
  const jump = await storage.connections.jumpOf({ accountId, via });
  if (jump !== undefined) return jump;
  throw badField('via', 'must be a connection that is switched on, with at most two jump hosts on the way to it');
}

/**
 * Checks the way to the connection, and what its change does to those behind it. `before`: the stored one; undefined =
 * a new one, whose id others may name all the same, if it was deleted. @throws GatewayError bad_request: see
 * requireJump, or a way would be too long; in_use: stored secrets would go another way
 */
export async function requireWay(
  services: Pick<Services, 'storage'>,
  accountId: string,
  draft: Pick<ConnectionDraft, 'id' | 'type' | 'settings'>,
  before: ManagedConnection | undefined,
): Promise<void> {
  const { id, type, settings } = draft;
  // A way that stays was checked before; its jump host may be switched off by now.
  const jump = before?.settings.via === settings.via ? undefined : await requireJump(services, accountId, draft);
  const definition = definitionOf(draft);
  const isMoved = before === undefined || addressOf(definition, before.settings) !== addressOf(definition, settings);
  if (id === undefined || type !== 'sftp' || !isMoved) return;
  const all = await services.storage.management.connections.list(accountId);
  let hops = wayThrough(jump).length;
  const behind: ManagedConnection[] = [];
  for (let next = namersOf([id], all, id); next.length > 0; next = namersOf(idsOf(next), all, id)) {
    hops += 1;
    const [first] = next;
    if (hops > MOST_HOPS && first !== undefined) {
      throw badField('via', `must leave ${first.id}, which leads through it, at most ${MOST_HOPS} jump hosts`);
    }
    behind.push(...next);
  }
  const endangered = behind.filter(hasSecretsOfWay);
  if (endangered.length === 0) return;
  throw refusal(
    'in_use',
    `through connection ${id}, stored secrets of ${idsOf(endangered).join(', ')} would go another way; ` +
      'register the other jump host under a new id, and name it in their via together with their secrets',
  );
}

/** The jump host and those on the way to it. */
function wayThrough(jump: SftpConnection | undefined): readonly SftpConnection[] {
  return jump === undefined ? [] : [jump, ...wayThrough(jump.jump)];
}

/** Those whose `via` is one of `ids`, without `self`: two edits at once may have made a circle. */
function namersOf(
  ids: readonly string[],
  all: readonly ManagedConnection[],
  self: string,
): readonly ManagedConnection[] {
  return all.filter(({ id, settings: { via } }) => via !== null && ids.includes(via) && id !== self);
}

const idsOf = (connections: readonly ManagedConnection[]): readonly string[] => connections.map(({ id }) => id);

/**
 * Whether it has secrets that would have to be given again for another jump host. Its own trust in the server does not
 * matter: an editor may change that without them.
 */
function hasSecretsOfWay(connection: ManagedConnection): boolean {
  const definition = definitionOf(connection);
  return connection.secrets.some(
    (name) => connection.hasConfiguredSecrets || addressFor(definition, name).includes('via'),
  );
}
