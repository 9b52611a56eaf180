/** The events of the account for its owner: newest first. */
import { Type } from 'typebox';
import { eventExample } from '../../contract/event.js';
import { feedFilters, queryOf } from '../../contract/filters.js';
import { limit } from '../../contract/paging.js';
import { count, listOf, text } from '../../contract/schema.js';
import { CLOSED, cursor, page, periodOf } from '../fields.js';
import { endpoints } from '../endpoint.js';

const endpoint = endpoints('Events');
export const feedEndpoints = endpoint.all;

endpoint('GET /manage/feed', {
  operationId: 'listFeed',
  summary: 'List events',
  description:
    'Newest first, each as the bytes that webhooks are sent; `GET /api/events` follows them. A page ends at `limit` or 1 MiB. `nextCursor` continues where it ended, also when the page is short or empty; null is the end.',
  query: Type.Object(
    {
      ...queryOf(feedFilters),
      limit: limit(200, 50, 20),
      cursor: cursor('42', { pattern: '^[0-9]{1,15}$' }),
    },
    CLOSED,
  ),
  answer: {
    schema: page('FeedAnswer', {
      events: listOf(
        Type.Object({
          sequence: count('Its number among the events of the account.'),
          type: text('Kind of event.'),
          body: text('The event: JSON, exactly as it was signed.'),
        }),
        'Newest first.',
      ),
      last: count('`sequence` of the last event that there is; 0 = none.'),
    }),
    example: {
      events: [{ sequence: 42, type: 'connection.up', body: JSON.stringify(eventExample('connection.up')) }],
      last: 42,
      nextCursor: '42',
    },
  },
}).handle(async ({ caller, query: { type, limit, cursor, ...times } }, { storage }) => {
  const before = cursor === undefined ? undefined : Number(cursor);
  const { nextBefore, ...page } = await storage.events.feeds.newest(caller.accountId, {
    type,
    limit,
    before,
    ...periodOf(times),
  });
  return { ...page, nextCursor: nextBefore === null ? null : String(nextBefore) };
});
