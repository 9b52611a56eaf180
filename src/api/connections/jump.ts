/** The jump host of a connection, as it is entered. */
import type { SftpConnection } from '../../connections/connection.js';
import type { ConnectionDraft } from '../../storage/storage.js';
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
  if (named.isConfigured === true) {
    throw badField(
      'via',
      `must not be ${via}: it comes from the configuration file, whose logins are for their own servers`,
    );
  }
  for (let at: SftpConnection | undefined = named; at !== undefined; at = at.jump) {
    if (at.id === id) throw badField('via', `must not lead in a circle: ${via} leads through ${id}`);
  }
  const jump = await storage.connections.jumpOf({ accountId, via });
  if (jump !== undefined) return jump;
  throw badField('via', 'must be a connection that is switched on, with at most two jump hosts on the way to it');
}
