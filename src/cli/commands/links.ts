/** `ftg link`: URLs that need no key and do one thing. */
import type { Link } from '../../client/index.js';
import { linkFields } from '../../contract/link.js';
import { type Arguments, type Session, shows } from '../command.js';
import { givenFieldsOf } from '../field-options.js';
import { parseLocation } from '../location.js';
import { bytesText, fields, listed, placeText, timeText } from '../output.js';

const WEEK_SECONDS = 7 * 86_400;

/** Prints only the URL, so that scripts can read it. `expires`: in seconds. */
export async function createLink(
  { gateway, out, signal }: Session,
  [operation = '', place = '']: Arguments,
  { expires = WEEK_SECONDS, ...options }: { readonly expires?: number },
): Promise<void> {
  const { connectionId, path } = parseLocation(place);
  const link = await gateway.files.links.create(
    {
      operation: operation as Link['operation'],
      connectionId,
      // Without a path: the default folder of the connection.
      path: path === '' ? '.' : path,
      expiresAt: new Date(Date.now() + expires * 1_000).toISOString(),
      ...givenFieldsOf(linkFields, options),
    },
    { signal },
  );
  out.note(`Whoever has this URL can use it until ${timeText(link.expiresAt)}. It is shown this once.`);
  out.show({ link }, () => link.url);
}

export const listLinks = shows(
  async ({ gateway, signal }) => {
    const links: Link[] = [];
    for await (const link of gateway.files.links.list({ signal })) links.push(link);
    return { links };
  },
  ({ links }) =>
    listed(
      links,
      {
        ID: 'id',
        DOES: 'operation',
        PLACE: placeText,
        USES: ({ uses, maxUses }) => (maxUses === null ? uses : `${uses} of ${maxUses}`),
        MOST: ({ maxBytes }) => (maxBytes === null ? null : bytesText(maxBytes)),
        EXPIRES: 'expiresAt',
        STATE: 'state',
      },
      'no links',
    ),
);

export const showLink = shows(
  async ({ gateway, signal }, [id = '']) => ({ link: await gateway.files.links.get(id, { signal }) }),
  ({ link }) => fields(link),
);

export const revokeLink = shows(
  async ({ gateway, signal }, [id = '']) => ({ link: await gateway.files.links.revoke(id, { signal }) }),
  ({ link }, id) => `${id} is ${link.state}`,
);
