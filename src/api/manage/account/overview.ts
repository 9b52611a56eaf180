/** Today, and what needs a person. */
import { Type } from 'typebox';
import { count, dateTime, group, listOf, object, oneOf, text } from '../../../base/schema.js';
import { TIME } from '../fields.js';
import { DAY_MS, startOfDay, usageOf } from './usage.js';
import { ownerEndpoints } from '../services.js';

const endpoint = ownerEndpoints('Account');

const EXPIRY_WARNING_DAYS = 7;
const QUOTA_WARNING = 0.8;

export const showOverview = endpoint('GET /manage/overview', {
  operationId: 'showOverview',
  summary: 'Show today',
  description: 'Sums of today (UTC), the last 24 hours, oldest first, and what needs a person.',
  answer: {
    schema: object('Overview', {
      today: group(
        {
          transfers: count('Operations.'),
          failed: count('Those that failed.'),
          pending: count('Those that run now.'),
          bytesIn: count('Bytes read from remote servers.'),
          bytesOut: count('Bytes sent to remote servers.'),
        },
        'Sums of today, UTC.',
      ),
      hours: listOf(
        Type.Object({
          from: dateTime('Begin of the hour.'),
          transfers: count('Operations.'),
          failed: count('Those that failed.'),
          bytes: count('Bytes moved.'),
        }),
        'The last 24 hours, oldest first.',
      ),
      attention: listOf(
        Type.Object({
          kind: oneOf(
            ['connection_failing', 'watched_folder_failing', 'dead_letters', 'key_expiring', 'quota'],
            'What it is about.',
          ),
          text: text('In words.'),
          connectionId: Type.Optional(text('The connection, where it is about one.')),
          watchedFolderId: Type.Optional(text('The watched folder, where it is about one.')),
          apiKeyId: Type.Optional(text('The API key, where it is about one.')),
        }),
        'What needs a person.',
      ),
    }),
    example: {
      today: { transfers: 120, failed: 2, pending: 1, bytesIn: 1024, bytesOut: 4096 },
      hours: [{ from: TIME, transfers: 5, failed: 0, bytes: 1024 }],
      attention: [
        { kind: 'connection_failing', text: 'Connection "Warehouse" fails: login refused', connectionId: 'warehouse' },
      ],
    },
  },
}).handle(async ({ caller }, services) => {
  const { figures } = services.storage.management;
  const now = new Date();
  const [hours, pending, failing, expiring, usage, watch] = await Promise.all([
    figures.hours(caller.accountId, now),
    figures.pending(caller.accountId),
    figures.failingConnections(caller.accountId, now),
    figures.expiringKeys(caller.accountId, new Date(now.getTime() + EXPIRY_WARNING_DAYS * DAY_MS)),
    usageOf(services, caller, now),
    figures.watchTrouble(caller.accountId),
  ]);
  const midnight = startOfDay(now);
  const today = hours.filter(({ from }) => from.getTime() >= midnight);
  const sum = (pick: (hour: (typeof hours)[number]) => number): number =>
    today.reduce((total, hour) => total + pick(hour), 0);
  return {
    today: {
      transfers: sum((hour) => hour.transfers),
      failed: sum((hour) => hour.failed),
      pending,
      bytesIn: sum((hour) => hour.bytesIn),
      bytesOut: sum((hour) => hour.bytesOut),
    },
    hours: hours.map(({ from, transfers, failed, bytesIn, bytesOut }) => ({
      from,
      transfers,
      failed,
      bytes: bytesIn + bytesOut,
    })),
    attention: [
      ...failing.map(({ connectionId, name, error }) => ({
        kind: 'connection_failing' as const,
        text: `Connection "${name}" fails: ${error ?? 'no reason is known'}`,
        connectionId,
      })),
      ...watch.failing.map(({ id, name, error }) => ({
        kind: 'watched_folder_failing' as const,
        text: `Checks of the watched folder "${name}" fail: ${error ?? 'no reason is known'}`,
        watchedFolderId: id,
      })),
      ...(watch.deadLetters === 0 ? [] : [{ kind: 'dead_letters' as const, text: deadLettersText(watch.deadLetters) }]),
      ...expiring.map(({ id, name, expiresAt }) => ({
        kind: 'key_expiring' as const,
        text: `API key "${name}" expires at ${expiresAt.toISOString()}`,
        apiKeyId: id,
      })),
      ...(isShort(usage)
        ? [{ kind: 'quota' as const, text: `${usage.used} of the ${usage.limit} actions of this month are used` }]
        : []),
    ],
  };
});

function deadLettersText(count: number): string {
  return `${count} webhook ${count === 1 ? 'event' : 'events'} could not be delivered`;
}

function isShort({ used, limit, runsOutAt }: Awaited<ReturnType<typeof usageOf>>): boolean {
  return limit > 0 && (used >= limit * QUOTA_WARNING || runsOutAt !== null);
}
