/** What was changed, and by whom. */
import { Type } from 'typebox';
import { dateTime, listOf, object, oneOf, orNull, text, textOrNull, group } from '../../../base/schema.js';
import { CLOSED, cursor, facts, id, ID, limit, TIME } from '../fields.js';
import { ownerEndpoints, requireCursor } from '../services.js';

const endpoint = ownerEndpoints('Account');

export const listAudit = endpoint('GET /manage/audit', {
  operationId: 'listAudit',
  summary: 'List what was changed',
  description: 'Every change and every login, refused ones too, newest first; no secrets.',
  query: Type.Object(
    {
      limit: limit(200, 50),
      cursor,
      action: Type.Optional(
        text('Only this area (`connection`) or action (`connection.update`).', {
          minLength: 1,
          maxLength: 64,
          pattern: '^[a-z_.]+$',
          examples: ['connection.update'],
        }),
      ),
    },
    CLOSED,
  ),
  answer: {
    schema: object('AuditAnswer', {
      entries: listOf(
        object('AuditEntry', {
          id: id(),
          at: dateTime('When it happened.'),
          actor: group(
            {
              kind: oneOf(['session', 'key', 'anonymous'], 'A login session, an API key or the gateway itself.'),
              id: textOrNull('Id of the session or key.'),
              name: text('E-mail address of the account, or name of the key.'),
            },
            'Who did it.',
          ),
          action: text('`area.verb`, such as `connection.update`.'),
          target: orNull(
            Type.Object({ kind: text('What it is.'), id: text('Its id.'), name: text('Its name.') }),
            'What was changed.',
          ),
          address: text('Where the request came from.'),
          requestId: text('Finds the request in the log.'),
          details: facts('What was changed; no secrets.'),
        }),
        'Newest first.',
      ),
      nextCursor: textOrNull('Where the next page begins; null = there is none.'),
    }),
    example: {
      entries: [
        {
          id: ID,
          at: TIME,
          actor: { kind: 'session', id: ID, name: 'ops@example.com' },
          action: 'connection.update',
          target: { kind: 'connection', id: 'warehouse', name: 'Warehouse' },
          address: '192.0.2.10',
          requestId: 'order-4711',
          details: { fields: ['port'] },
        },
      ],
      nextCursor: null,
    },
  },
}).handle(async ({ caller, query }, { storage }) => {
  requireCursor(query.cursor);
  const entries = await storage.management.audit.list(caller.accountId, query);
  return { entries, nextCursor: entries.length === query.limit ? (entries.at(-1)?.id ?? null) : null };
});
