/** What threads that share a limit of sessions and the broker (shares.ts) tell each other; `key` is the pool's. */

/** What a pool could do with sessions, and how long it has waited for them. */
export interface SessionNeeds {
  /** Of those it has or opens: in use, or wanted by somebody who waits. */
  readonly sessions: number;
  /** With so many in all the first in its queue is served; 1 while nobody waits there. */
  readonly atOnce: number;
  /** When the first in its queue came, in ms since 1970; now, while nobody waits there. */
  readonly since: number;
  /** The first in its queue is a client's request. */
  readonly isRequest: boolean;
  /** It opens a session, or has done so a moment ago. */
  readonly isFresh: boolean;
}

/** From a thread: on a change of `count` or `limit`, and as the answer to a poll. */
export type ToBroker =
  | ({
      readonly kind: 'want';
      readonly key: string;
      /** Permits it waits for, besides `held`. */
      readonly count: number;
      readonly held: number;
      /** As it knows it. */
      readonly limit: number;
    } & SessionNeeds)
  | { readonly kind: 'back'; readonly key: string; readonly isRefused: boolean };

/** To a thread. */
export type FromBroker =
  | { readonly kind: 'grant'; readonly key: string }
  | { readonly kind: 'poll'; readonly key: string }
  | { readonly kind: 'cap'; readonly key: string; readonly cap: number; readonly learned: number };
