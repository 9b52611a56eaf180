/** The messages between threads that share a limit of sessions and the broker (shares.ts); `key` is the pool's. */

/** The sessions that a pool needs, and how long it has waited for them. */
export interface SessionNeeds {
  /** Sessions that are in use or wanted by a waiter, among those that it has or opens. */
  readonly sessions: number;
  /** With this many in all, the first in its queue is served; 1 while its queue is empty. */
  readonly atOnce: number;
  /** When the first in its queue arrived, in ms since 1970; now, while its queue is empty. */
  readonly since: number;
  /** The first in its queue is a client's request. */
  readonly isRequest: boolean;
  /** It is opening a session, or has opened one a moment ago. */
  readonly isFresh: boolean;
}

/** From a thread: on a change of `count` or `limit`, and as the answer to a poll. */
export type ToBroker =
  | ({
      readonly kind: 'want';
      readonly key: string;
      /** Permits that it waits for, in addition to `held`. */
      readonly count: number;
      readonly held: number;
      /** The limit that it knows. */
      readonly limit: number;
    } & SessionNeeds)
  | { readonly kind: 'back'; readonly key: string; readonly isRefused: boolean };

/** To a thread. */
export type FromBroker =
  | { readonly kind: 'grant'; readonly key: string }
  | { readonly kind: 'poll'; readonly key: string }
  | { readonly kind: 'cap'; readonly key: string; readonly cap: number; readonly learned: number };
