/** `ftg link`: URLs that need no key and do one thing. */
import type { Link } from '../../client/index.js';
import type { Arguments, Session } from '../command.js';
import { parseLocation } from '../location.js';
import { bytesText, fields, table, timeText } from '../output.js';

interface LinkOptions {
  /** In seconds. */
  readonly expires?: number;
  readonly maxBytes?: number;
  readonly maxUses?: number;
  readonly name?: string;
  readonly overwrite?: boolean;
  readonly digest?: string;
}

const WEEK_SECONDS = 7 * 86_400;

/** Prints the URL alone, so that a script can take it. */
export async function createLink(
  { gateway, out, signal }: Session,
  [operation = '', place = '']: Arguments,
  { expires = WEEK_SECONDS, maxBytes, maxUses, name, overwrite, digest }: LinkOptions,
): Promise<void> {
  const { connectionId, path } = parseLocation(place);
  const given = Object.entries({ maxBytes, maxUses, filename: name, overwrite, digest });
  const link = await gateway.files.links.create(
    {
      operation: operation as Link['operation'],
      connectionId,
      // Without a path it is the default folder of the connection.
      path: path === '' ? '.' : path,
      expiresAt: new Date(Date.now() + expires * 1_000).toISOString(),
      ...Object.fromEntries(given.filter(([, value]) => value !== undefined)),
    },
    { signal },
  );
  out.note(`Whoever has this URL can use it until ${timeText(link.expiresAt)}. It is shown this once.`);
  out.show({ link }, () => link.url);
}

export async function listLinks({ gateway, out, signal }: Session): Promise<void> {
  const links: Link[] = [];
  for await (const link of gateway.files.links.list({ signal })) links.push(link);
  out.show({ links }, () => {
    const rows = links.map(({ id, operation, connectionId, path, uses, maxUses, maxBytes, expiresAt, state }) => [
      ...[id, operation, `${connectionId}:${path}`, maxUses === null ? uses : `${uses} of ${maxUses}`],
      ...[maxBytes === null ? null : bytesText(maxBytes), timeText(expiresAt), state],
    ]);
    return table(['ID', 'DOES', 'PLACE', 'USES', 'MOST', 'EXPIRES', 'STATE'], rows, 'no links');
  });
}

export async function showLink({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> {
  const link = await gateway.files.links.get(id, { signal });
  out.show({ link }, () => fields(link));
}

export async function revokeLink({ gateway, out, signal }: Session, [id = '']: Arguments): Promise<void> {
  const link = await gateway.files.links.revoke(id, { signal });
  out.show({ link }, () => `${id} is ${link.state}`);
}
