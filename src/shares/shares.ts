/**
 * One limit of sessions over the pools of several threads, and over those of other processes as far as these leave
 * something (process-shares.ts). Threads ask for permits, and get what is free. If that is not enough, all threads that
 * hold or want some are asked what they need, and the limit is divided once in each round. The threads come in order of
 * how long the first in their queue has waited, clients' requests before watched folders. Each thread first gets what
 * that waiter needs at once. The rest is divided evenly among those that can use it, and idle sessions are kept as long
 * as their room is not needed. A thread that holds more than its share must reduce to it: idle sessions are closed at
 * once, used ones take no further lease and are closed after their last one.
 * So every waiter is served in the end: the one that has waited longest is first in every round. Its thread can gather
 * even two sessions, because later arrivals take nothing of a share that is not yet complete. And logins stay few: a
 * thread that has just opened a session comes before the others with its even part of what it holds.
 */

import { Periodic } from '../base/periodic.js';
import { LearnedLimit } from './learned-limit.js';
import type { FromBroker, SessionNeeds, ToBroker } from './share-messages.js';
import { type Claimant, inOrder, shareOut } from './share-out.js';

interface Holder extends Claimant {
  readonly send: (message: FromBroker) => void;
  held: number;
  waiting: number;
  limit: number;
  /** Its last report. */
  needs: SessionNeeds;
  /** It has not answered in this round yet. */
  isAsked: boolean;
  cap: number;
}

/** All threads of the process as one claimant, if other processes have some too. */
export interface ProcessClaim {
  readonly held: number;
  readonly waiting: number;
  readonly needs: SessionNeeds;
  readonly limit: number;
}

interface Login {
  readonly key: string;
  readonly holders: Map<object, Holder>;
  /** What the server was found to admit. */
  readonly learned: LearnedLimit;
  /** What other processes leave to this one. */
  allowance: number;
  /** The allowance is being determined: before it is known, no thread is asked to give up something. */
  isClaiming: boolean;
  /** Runs while permits have run out and a pool waits. */
  rounds: Periodic;
}

/** How long a process that lacks sessions, or holds some, takes to notice changes of the others. */
export const ROUND_MS = 250;

export class SharesBroker {
  readonly #logins = new Map<string, Login>();
  readonly #members = new Map<object, (message: FromBroker) => void>();
  #onChange: ((key: string) => void) | undefined;

  /** `member` represents the thread in the other calls. */
  join(member: object, send: (message: FromBroker) => void): void {
    this.#members.set(member, send);
  }

  /** Other processes share the limits: from now on only what `allow` permits is granted; `onChange` may call it. */
  shareWithOthers(onChange: (key: string) => void): void {
    this.#onChange = onChange;
  }

  /** What the threads have and want for this login. */
  claimOf(key: string): ProcessClaim {
    const login = this.#logins.get(key);
    const holders =
      login === undefined ? [] : [...login.holders.values()].filter((holder) => holder.held + holder.waiting > 0);
    const limit = Math.min(...holders.map((holder) => holder.limit));
    const held = sum(holders, 'held');
    const [first] = holders.filter((holder) => holder.waiting > 0).sort(inOrder);
    return {
      held,
      waiting: Math.max(0, Math.min(sum(holders, 'waiting'), limit - held, (login?.learned.sessions ?? limit) - held)),
      limit,
      needs: {
        sessions: holders.reduce((total, { needs, held }) => total + Math.min(needs.sessions, held), 0),
        atOnce: first?.needs.atOnce ?? 1,
        since: first?.needs.since ?? Date.now(),
        isRequest: first?.needs.isRequest ?? false,
        isFresh: holders.some(({ needs }) => needs.isFresh),
      },
    };
  }

  /** Nothing further is granted until `allow`, so that the result of `claimOf` stays true. */
  beginClaim(key: string): void {
    const login = this.#logins.get(key);
    if (login === undefined) return;
    login.isClaiming = true;
    login.allowance = Math.min(login.allowance, sum([...login.holders.values()], 'held'));
  }

  /** The process may hold this many sessions; if it has more, it gives them up as they become idle. */
  allow(key: string, sessions: number): void {
    const login = this.#logins.get(key);
    if (login === undefined || (login.allowance === sessions && !login.isClaiming)) return;
    login.isClaiming = false;
    login.allowance = sessions;
    this.#settle(login);
  }

  /** Asks the threads to report what they need now. */
  refresh(key: string): void {
    for (const { send } of this.#logins.get(key)?.holders.values() ?? []) send({ kind: 'poll', key });
  }

  /** The thread has ended, and its sessions with it. */
  leave(member: object): void {
    this.#members.delete(member);
    for (const login of this.#logins.values()) if (login.holders.delete(member)) this.#settle(login);
  }

  receive(member: object, message: ToBroker): void {
    const send = this.#members.get(member);
    if (send === undefined) return;
    const login = this.#loginOf(message.key);
    const holder = holderOf(login, member, send);
    if (message.kind === 'want') this.#note(login, holder, message);
    else {
      if (message.isRefused) this.#learn(login);
      holder.held--;
    }
    this.#settle(login);
  }

  #note(login: Login, holder: Holder, message: Extract<ToBroker, { kind: 'want' }>): void {
    // Granted, but not yet known to the thread when it wrote.
    const underWay = holder.held - message.held;
    holder.waiting = Math.max(0, message.count - underWay);
    holder.limit = message.limit;
    holder.needs = { ...message, sessions: message.sessions + underWay };
    if (!holder.isAsked) return;
    holder.isAsked = false;
    if (![...login.holders.values()].some(({ isAsked }) => isAsked)) this.#shareOut(login);
  }

  #loginOf(key: string): Login {
    let login = this.#logins.get(key);
    if (login === undefined) {
      const known: Login = {
        key,
        holders: new Map(),
        learned: new LearnedLimit(() => {
          this.#sendLearned(known);
          this.#settle(known);
        }),
        allowance: this.#onChange === undefined ? Infinity : 0,
        isClaiming: false,
        rounds: new Periodic(() => this.#nextRound(known), ROUND_MS),
      };
      login = known;
      this.#logins.set(key, login);
    }
    return login;
  }

  /** Grants what is free, and starts to free more if that is not enough. */
  #settle(login: Login): void {
    const holders = [...login.holders.values()];
    let free = limitOf(login) - sum(holders, 'held');
    for (; free > 0; free--) {
      const next = nextInLine(holders);
      if (next === undefined) break;
      this.#grant(login, next);
    }
    this.#onChange?.(login.key);
    const isScarce = free < 0 || sum(holders, 'waiting') > 0;
    if (!isScarce) this.#relax(login);
    else if (!login.rounds.isStarted && !login.isClaiming) {
      login.rounds.start();
      this.#ask(login);
    }
    if (sum(holders, 'held') + sum(holders, 'waiting') === 0) this.#forget(login);
  }

  #grant(login: Login, holder: Holder): void {
    holder.held++;
    holder.waiting--;
    login.learned.trying(sum([...login.holders.values()], 'held'));
    holder.needs = { ...holder.needs, sessions: holder.needs.sessions + 1 };
    if (holder.held > holder.cap) this.#cap(login, holder, Infinity);
    holder.send({ kind: 'grant', key: login.key });
  }

  #nextRound(login: Login): void {
    // For a thread that has not answered, its last report counts.
    if ([...login.holders.values()].some(({ isAsked }) => isAsked)) this.#shareOut(login);
    this.#ask(login);
  }

  #ask(login: Login): void {
    for (const holder of login.holders.values()) {
      holder.isAsked = holder.held + holder.waiting > 0;
      if (holder.isAsked) holder.send({ kind: 'poll', key: login.key });
    }
  }

  #shareOut(login: Login): void {
    const holders = [...login.holders.values()];
    shareOut(holders, limitOf(login));
    for (const holder of holders) this.#cap(login, holder, holder.share < holder.held ? holder.share : Infinity);
  }

  #relax(login: Login): void {
    void login.rounds.stop();
    for (const holder of login.holders.values()) {
      holder.isAsked = false;
      holder.share = Infinity;
      this.#cap(login, holder, Infinity);
    }
  }

  #cap(login: Login, holder: Holder, cap: number): void {
    if (holder.cap === cap) return;
    holder.cap = cap;
    holder.send({ kind: 'cap', key: login.key, cap, learned: login.learned.sessions });
  }

  /** The server refused a further session: the number of the others is what it admits. */
  #learn(login: Login): void {
    const others = sum([...login.holders.values()], 'held') - 1;
    if (others < 1) return;
    login.learned.learn(Math.min(login.learned.sessions, others));
    this.#sendLearned(login);
  }

  #sendLearned({ key, holders, learned: { sessions: learned } }: Login): void {
    for (const { cap, send } of holders.values()) send({ kind: 'cap', key, cap, learned });
  }

  #forget(login: Login): void {
    if (login.learned.forget()) this.#sendLearned(login);
    this.#logins.delete(login.key);
  }
}

function holderOf({ holders }: Login, member: object, send: Holder['send']): Holder {
  let holder = holders.get(member);
  if (holder === undefined) {
    holder = {
      send,
      held: 0,
      waiting: 0,
      limit: Infinity,
      needs: { sessions: 0, atOnce: 1, since: 0, isRequest: false, isFresh: false },
      isAsked: false,
      share: Infinity,
      cap: Infinity,
    };
    holders.set(member, holder);
  }
  return holder;
}

/** The smallest limit that is known to any thread that holds or wants sessions. */
function limitOf({ holders, learned, allowance }: Login): number {
  let limit = Math.min(learned.sessions, allowance);
  for (const holder of holders.values()) if (holder.held + holder.waiting > 0) limit = Math.min(limit, holder.limit);
  return limit;
}

/** The thread that gets a free permit; a permit beyond all shares goes to any thread that wants it. */
function nextInLine(holders: readonly Holder[]): Holder | undefined {
  const waiting = holders.filter((holder) => holder.waiting > 0).sort(inOrder);
  return waiting.find((holder) => holder.held < holder.share) ?? waiting[0];
}

function sum(holders: readonly Holder[], what: 'held' | 'waiting'): number {
  return holders.reduce((total, holder) => total + holder[what], 0);
}
