/** What must hold after an upgrade, from what clients, receivers and the API have seen. */

export interface FeedEvent {
  readonly sequence: number;
  readonly id: string;
  readonly previousId: string | null;
  readonly type: string;
  readonly data: {
    readonly watchedFolder?: { readonly id: string };
    readonly files?: readonly { readonly path: string }[];
    readonly job?: { readonly id: string };
    readonly transfer?: { readonly requestId: string };
  };
}

export interface DeliveryFacts {
  readonly id: string;
  readonly state: string;
  readonly afterAction: string;
}

/** A delivery that is given up. Versions show its fields in different orders. */
export interface DeadLetter {
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
  readonly state: string;
  readonly attempts: number;
  readonly createdAt: string;
  readonly body: string;
}

/** A message that the receiver has answered with 2xx. */
export interface Acknowledged {
  readonly receiver: string;
  readonly id: string;
  readonly text: string;
}

export interface WatchedFacts {
  readonly receiver: string;
  /** The paths of the files that were put into it, in this order. */
  readonly put: readonly string[];
  /** False if its events are numbered after the copies of their files, so in any order. */
  readonly isInOrder: boolean;
}

export interface UpgradeFacts {
  /** By the ids of the folders. */
  readonly folders: ReadonlyMap<string, WatchedFacts>;
  /** The receivers of jobs, by the ids of the jobs; with the jobs whose receiver takes nothing. */
  readonly jobs: ReadonlyMap<string, string>;
  readonly deadReceiver: string;
  /** Ids of the requests that failed as they should: each is an event. */
  readonly failedRequests: readonly string[];
  /** The webhook of the account, with the events after this number. */
  readonly webhook: { readonly receiver: string; readonly after: number; readonly types: readonly string[] };
  readonly acknowledged: readonly Acknowledged[];
  /** What a client saw that followed the feed all the time. */
  readonly followed: readonly number[];
  readonly before: {
    readonly feed: readonly FeedEvent[];
    readonly dead: readonly DeadLetter[];
    /** Ids of the deliveries that waited when the first new node started. */
    readonly open: readonly string[];
  };
  readonly feed: readonly FeedEvent[];
  readonly dead: readonly DeadLetter[];
  readonly deliveries: readonly DeliveryFacts[];
}

/** Everything that is wrong, in words; nothing if all holds. */
export function findings(facts: UpgradeFacts): string[] {
  return [
    ...ofNumbers(facts),
    ...ofFiles(facts),
    ...ofSubjects('job', [...facts.jobs.keys()], facts.feed, ({ data }) => data.job?.id),
    ...ofSubjects('failed request', facts.failedRequests, facts.feed, ({ data }) => data.transfer?.requestId),
    ...ofMessages(facts),
    ...ofDeliveries(facts),
  ];
}

/** Each message that a receiver must get: the receiver and the id of the event. */
export function expectedMessages({ feed, folders, jobs, deadReceiver, webhook }: UpgradeFacts): string[] {
  return feed.flatMap(({ id, sequence, type, data }) => {
    const isSubscribed = sequence > webhook.after && webhook.types.includes(type);
    const own = folders.get(data.watchedFolder?.id ?? '')?.receiver ?? jobs.get(data.job?.id ?? '');
    return [
      ...(own === undefined || own === deadReceiver ? [] : [messageOf(own, id)]),
      ...(isSubscribed ? [messageOf(webhook.receiver, id)] : []),
    ];
  });
}

const messageOf = (receiver: string, id: string): string => `${id} to ${receiver}`;

function ofNumbers({ feed, followed, before }: UpgradeFacts): string[] {
  const wrong: string[] = [];
  feed.forEach(({ sequence, id, previousId }, index) => {
    if (sequence !== index + 1) wrong.push(`the feed has ${sequence} where ${index + 1} belongs`);
    const previous = feed[index - 1]?.id ?? null;
    if (previousId !== previous) wrong.push(`event ${sequence} names ${previousId} before it, not ${previous}`);
    if (followed[index] !== index + 1) wrong.push(`the follower saw ${followed[index]} where ${index + 1} belongs`);
    if (index < before.feed.length && JSON.stringify(feed[index]) !== JSON.stringify(before.feed[index]))
      wrong.push(`event ${sequence} (${id}) was another one before the upgrade`);
  });
  if (feed.length < before.feed.length) wrong.push(`the feed had ${before.feed.length} events before the upgrade`);
  if (followed.length > feed.length) wrong.push(`the follower saw ${followed.length - feed.length} events too many`);
  return [...wrong, ...repeated(feed.map(({ id }) => id)).map((id) => `event ${id} has several numbers`)];
}

function ofFiles({ feed, folders }: UpgradeFacts): string[] {
  return [...folders].flatMap(([id, { put, isInOrder, receiver }]) => {
    const paths = feed.flatMap(({ data }) =>
      data.watchedFolder?.id === id ? (data.files ?? []).map(({ path }) => path) : [],
    );
    const inWords = (what: string) => (path: string) => `${path} is in ${what} event of ${receiver}`;
    const wrong = differences(put, paths, inWords('no'), inWords('an unexpected'));
    wrong.push(...repeated(paths).map(inWords('more than one')));
    const order = isInOrder ? put : paths;
    if (wrong.length === 0 && paths.some((path, index) => path !== order[index]))
      wrong.push(`the events of ${receiver} are in another order than their files came`);
    return wrong;
  });
}

/** Each subject is in exactly one event. */
function ofSubjects(
  kind: string,
  subjects: readonly string[],
  feed: readonly FeedEvent[],
  subjectOf: (event: FeedEvent) => string | undefined,
): string[] {
  const found = feed.map(subjectOf).filter((id) => id !== undefined);
  const inWords = (what: string) => (id: string) => `${kind} ${id} is in ${what} event`;
  return [
    ...differences(subjects, found, inWords('no'), inWords('an unexpected')),
    ...repeated(found).map(inWords('more than one')),
  ];
}

function ofMessages(facts: UpgradeFacts): string[] {
  const { acknowledged, feed } = facts;
  const got = acknowledged.map(({ receiver, id }) => messageOf(receiver, id));
  const bodies = new Map(feed.map((event) => [event.id, JSON.stringify(event)]));
  return [
    ...differences(
      expectedMessages(facts),
      got,
      (message) => `${message} did not arrive`,
      (message) => `${message} arrived, and belongs to no file`,
    ),
    ...repeated(got).map((message) => `${message} was sent again after 2xx`),
    ...acknowledged
      .filter(({ id, text }) => bodies.get(id) !== text)
      .map(({ receiver, id }) => `${messageOf(receiver, id)} is another text than in the feed`),
  ];
}

function ofDeliveries(facts: UpgradeFacts): string[] {
  const { deliveries, dead, before } = facts;
  const states = new Map(deliveries.map(({ id, state }) => [id, state]));
  const expected = expectedMessages(facts).length + before.dead.length;
  return [
    ...before.open
      .filter((id) => states.get(id) !== 'delivered')
      .map((id) => `delivery ${id} waited before the upgrade, and is now ${states.get(id) ?? 'gone'}`),
    ...deliveries
      .filter(({ state }) => state !== 'delivered' && state !== 'dead')
      .map(({ id, state }) => `delivery ${id} is ${state}`),
    ...deliveries
      .filter(({ afterAction }) => afterAction === 'pending')
      .map(({ id }) => `the files of delivery ${id} are where they were`),
    ...(deliveries.length === expected ? [] : [`there are ${deliveries.length} deliveries, and not ${expected}`]),
    ...(JSON.stringify(dead) === JSON.stringify(before.dead) ? [] : ['the dead letters are not those of before']),
  ];
}

function differences(
  expected: readonly string[],
  found: readonly string[],
  missing: (item: string) => string,
  unexpected: (item: string) => string,
): string[] {
  const [all, those] = [new Set(expected), new Set(found)];
  return [
    ...[...all].filter((item) => !those.has(item)).map(missing),
    ...[...those].filter((item) => !all.has(item)).map(unexpected),
  ];
}

function repeated(items: readonly string[]): string[] {
  const seen = new Set<string>();
  return [...new Set(items.filter((item) => seen.size === seen.add(item).size))];
}
