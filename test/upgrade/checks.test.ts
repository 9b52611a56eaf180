/** The checks of `npm run upgrade` find each way in which an event may go wrong. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type FeedEvent, findings, type UpgradeFacts } from './checks.js';

const DEAD = { id: 'd', eventId: 'd', type: 'job.finished', state: 'dead', attempts: 2, createdAt: 'then', body: '{}' };
const detected = (...paths: string[]) => ({ watchedFolder: { id: 'f' }, files: paths.map((path) => ({ path })) });
const event = (sequence: number, type: string, data: FeedEvent['data']): FeedEvent => {
  return { sequence, id: `e${sequence}`, previousId: sequence === 1 ? null : `e${sequence - 1}`, type, data };
};
const FEED = [
  event(1, 'job.finished', { job: { id: 'dead job' } }),
  event(2, 'watched_folder.files_detected', detected('/a', '/b')),
  event(3, 'transfer.failed', { transfer: { requestId: 'r' } }),
  event(4, 'watched_folder.files_detected', detected('/c')),
  event(5, 'job.finished', { job: { id: 'job' } }),
  event(6, 'connection.down', {}),
];
const sent = (receiver: string, sequence: number) => {
  return { receiver, id: `e${sequence}`, text: JSON.stringify(FEED[sequence - 1]) };
};
const delivered = (id: string) => ({ id, state: 'delivered', afterAction: 'none' });
const GOOD: UpgradeFacts = {
  folders: new Map([['f', { receiver: '/folder', put: ['/a', '/b', '/c'], isInOrder: true }]]),
  jobs: new Map([
    ['dead job', '/dead'],
    ['job', '/jobs'],
  ]),
  deadReceiver: '/dead',
  failedRequests: ['r'],
  webhook: { receiver: '/account', after: 2, types: ['transfer.failed', 'watched_folder.files_detected'] },
  acknowledged: [sent('/folder', 2), sent('/account', 3), sent('/account', 4), sent('/folder', 4), sent('/jobs', 5)],
  followed: [1, 2, 3, 4, 5, 6],
  before: { feed: FEED.slice(0, 2), dead: [DEAD], open: ['one'] },
  feed: FEED,
  dead: [DEAD],
  deliveries: [{ ...DEAD, afterAction: 'none' }, ...['one', 'two', 'three', 'four', 'five'].map(delivered)],
};
const [first, , failed, , , last] = FEED as [FeedEvent, FeedEvent, FeedEvent, FeedEvent, FeedEvent, FeedEvent];
const changed = (sequence: number, change: Partial<FeedEvent>): Partial<UpgradeFacts> => {
  return { feed: FEED.map((one) => (one.sequence === sequence ? { ...one, ...change } : one)) };
};
const putInto = (...put: string[]): Partial<UpgradeFacts> => {
  return { folders: new Map([['f', { receiver: '/folder', put, isInOrder: true }]]) };
};

suite('checks of an upgrade', () => {
  test('nothing is wrong', () => assert.deepEqual(findings(GOOD), []));

  const cases: readonly (readonly [what: string, change: Partial<UpgradeFacts>, finding: RegExp])[] = [
    ['a number that is missing', { feed: FEED.toSpliced(5, 1, { ...last, sequence: 7 }) }, /has 7 where 6 belongs/],
    ['an event with two numbers', { feed: [...FEED, { ...failed, sequence: 7, previousId: 'e6' }] }, /e3 has several/],
    ['a broken chain', changed(4, { previousId: 'e2' }), /event 4 names e2 before it, not e3/],
    ['an event that has changed', changed(1, { type: 'job.started' }), /event 1 \(e1\) was another one/],
    ['a feed that is shorter', { feed: [first] }, /had 2 events before/],
    ['a follower that missed one', { followed: [1, 2, 4, 5, 6] }, /the follower saw 4 where 3 belongs/],
    ['a follower that saw one twice', { followed: [1, 2, 3, 4, 5, 6, 6] }, /the follower saw 1 events too many/],
    ['a file without an event', putInto('/a', '/b', '/c', '/d'), /\/d is in no event/],
    ['a file that came from nowhere', putInto('/a', '/b'), /\/c is in an unexpected event/],
    ['a file in two events', changed(4, { data: detected('/a', '/c') }), /\/a is in more than one event/],
    ['files in another order', putInto('/b', '/a', '/c'), /in another order/],
    ['a failed request without an event', { failedRequests: ['r', 's'] }, /failed request s is in no event/],
    ['a job in two events', changed(1, { data: { job: { id: 'job' } } }), /job job is in more than one event/],
    ['a lost message', { acknowledged: GOOD.acknowledged.slice(1) }, /e2 to \/folder did not arrive/],
    ['a repeated one', { acknowledged: [...GOOD.acknowledged, sent('/jobs', 5)] }, /e5 to \/jobs was sent again/],
    ['a strange one', { acknowledged: [...GOOD.acknowledged, sent('/jobs', 6)] }, /e6 to \/jobs arrived, and/],
    [
      'another text',
      { acknowledged: GOOD.acknowledged.map((one) => ({ ...one, text: one.text.replace('/c', '/d') })) },
      /e4 to \/folder is another text/,
    ],
    ['an open delivery that is gone', { before: { ...GOOD.before, open: ['six'] } }, /six waited .* is now gone/],
    [
      'a delivery that is still open',
      { deliveries: GOOD.deliveries.map((one) => (one.id === 'two' ? { ...one, state: 'pending' } : one)) },
      /delivery two is pending/,
    ],
    [
      'files that are not moved',
      { deliveries: GOOD.deliveries.map((one) => (one.id === 'two' ? { ...one, afterAction: 'pending' } : one)) },
      /the files of delivery two/,
    ],
    ['a delivery too many', { deliveries: [...GOOD.deliveries, delivered('six')] }, /7 deliveries, and not 6/],
    ['a dead letter that was sent again', { dead: [] }, /the dead letters are not those of before/],
  ];
  for (const [what, change, finding] of cases) {
    test(what, () => assert.match(findings({ ...GOOD, ...change }).join('\n'), finding));
  }
});
