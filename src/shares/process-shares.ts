/**
 * One limit of sessions over several processes (nodes). Before a process opens a session it claims it: under a lock
 * that all processes share, it reads what the others hold and want, and takes what is free, and its share by the rules
 * of share-out.ts. There is one claim for each session that is opened or closed, and none for a lease. What a process
 * lacks it claims again a moment later; processes with sessions check whether others wait, and give up what is beyond
 * their share.
 * While claims fail (the database is away) a process keeps what it has and opens sessions up to its even part.
 */
import { Periodic } from '../base/periodic.js';
import type { SessionNeeds } from './share-messages.js';
import { type Claimant, shareOut } from './share-out.js';
import { type ProcessClaim, ROUND_MS, type SharesBroker } from './shares.js';

/** What others see of a process. */
type Claim = Pick<Claimant, 'held' | 'waiting'> & SessionNeeds;

type SeenClaim = Claim & { readonly isMine: boolean };

/** The store that the processes share. */
interface ClaimStore {
  /** Live processes, as far as this one knows. */
  readonly processes: number;
  /**
   * Passes the claims of all processes, including this one's, to `decide`, and records that this process holds the
   * number that it returns. All processes see them in one order and with the same times.
   */
  claim(login: string, claim: Claim, decide: (claims: readonly SeenClaim[]) => number): Promise<void>;
  /** Those of `logins` for which other processes wait for sessions. */
  wantedByOthers(logins: readonly string[]): Promise<readonly string[]>;
}

/** A process that knows of no other checks once in this many rounds. */
const ROUNDS_ALONE = 20;
/** Time for the threads to report what they need. */
const REFRESH_MS = 25;
/** A waiter waits at most this long for the answer to a claim. */
const PATIENCE_MS = 2_000;
/** When claims succeed again, all processes first report what they opened meanwhile. */
const RECOVERY_MS = 2_000;

interface Login {
  /** The last claim; undefined if it failed. */
  reported: Pick<Claim, 'held' | 'waiting'> | undefined;
  isClaiming: boolean;
  isFailing: boolean;
  /** Nothing is taken while claims fail, and for a moment after. */
  recovery: NodeJS.Timeout | undefined;
  next: NodeJS.Timeout | undefined;
}

export class ProcessShares {
  readonly #broker: SharesBroker;
  readonly #store: ClaimStore;
  readonly #logins = new Map<string, Login>();
  /** Runs while this process has sessions, or lacks some. */
  readonly #rounds = new Periodic(() => this.#checkOthers(), ROUND_MS);
  #round = 0;
  #isStopped = false;

  constructor(broker: SharesBroker, store: ClaimStore) {
    this.#broker = broker;
    this.#store = store;

    broker.shareWithOthers((key) => this.#changed(key));
  }

  /** Its claims end with the node, in the store. */
  stop(): void {
    this.#isStopped = true;
    void this.#rounds.stop();
    for (const { next, recovery } of this.#logins.values()) {
      clearTimeout(next);
      clearTimeout(recovery);
    }
  }

  #changed(key: string): void {
    let login = this.#logins.get(key);
    if (login === undefined) {
      login = {
        reported: { held: 0, waiting: 0 },
        isClaiming: false,
        isFailing: false,
        recovery: undefined,
        next: undefined,
      };
      this.#logins.set(key, login);
      if (!this.#isStopped) this.#rounds.start();
    }
    if (login.isClaiming || this.#isStopped) return;
    const { held, waiting } = this.#broker.claimOf(key);
    if (held === login.reported?.held && waiting === login.reported.waiting) return;
    if (login.isFailing) this.#allowEvenPart(key);
    else void this.#claim(key, login);
  }

  async #claim(key: string, login: Login): Promise<void> {
    if (login.isClaiming || this.#isStopped) return;
    clearTimeout(login.next);
    login.next = undefined;
    login.isClaiming = true;
    const claim = this.#broker.claimOf(key);
    this.#broker.beginClaim(key);
    const patience = setTimeout(() => this.#allowEvenPart(key), PATIENCE_MS);
    let allowed: number | undefined;
    try {
      await this.#store.claim(key, { held: claim.held, waiting: claim.waiting, ...claim.needs }, (claims) => {
        const most = login.isFailing || login.recovery !== undefined ? claim.held : Infinity;
        allowed = Math.min(most, allowedOf(claims, claim.limit));
        return Math.max(claim.held, allowed);
      });
      allowed ??= 0;
      if (login.isFailing) this.#recover(login);
    } catch {
      allowed = undefined;
      login.isFailing = true;
    }
    clearTimeout(patience);
    login.isClaiming = false;
    this.#answered(key, login, claim, allowed);
  }

  #answered(key: string, login: Login, claim: ProcessClaim, allowed: number | undefined): void {
    if (this.#isStopped) return;
    if (allowed === undefined) {
      login.reported = undefined;
      this.#allowEvenPart(key);
    } else {
      const held = Math.max(claim.held, allowed);
      login.reported = { held, waiting: claim.held + claim.waiting - held };
      this.#broker.allow(key, allowed);
    }
    // The broker reports nothing about a login that it has forgotten meanwhile.
    this.#changed(key);
    if (login.isClaiming) return;
    if (login.reported?.held === 0 && login.reported.waiting === 0) {
      clearTimeout(login.next);
      clearTimeout(login.recovery);
      this.#logins.delete(key);
    } else if (login.reported === undefined || login.reported.waiting > 0)
      login.next ??= this.#claimIn(ROUND_MS, key, login);
  }

  #recover(login: Login): void {
    login.isFailing = false;
    clearTimeout(login.recovery);
    login.recovery = setTimeout(() => (login.recovery = undefined), RECOVERY_MS).unref();
  }

  #claimIn(ms: number, key: string, login: Login): NodeJS.Timeout {
    return setTimeout(() => void this.#claim(key, login), ms).unref();
  }

  /** The part that certainly belongs to no other process, if all know the same limit. */
  #allowEvenPart(key: string): void {
    const { held, waiting, limit } = this.#broker.claimOf(key);
    const even = Math.max(1, Math.floor(limit / this.#store.processes));
    this.#broker.allow(key, Math.max(held, Math.min(held + waiting, even)));
  }

  /** Checks whether others wait for sessions that this process holds. */
  async #checkOthers(): Promise<void> {
    if (this.#logins.size === 0) return void this.#rounds.stop();
    this.#round++;
    const isAlone = this.#store.processes === 1 && this.#round % ROUNDS_ALONE > 0;
    const held = [...this.#logins].flatMap(([key, { reported: last }]) =>
      last !== undefined && last.held > 0 ? [key] : [],
    );
    if (held.length === 0 || isAlone) return;
    try {
      for (const key of await this.#store.wantedByOthers(held)) {
        const login = this.#logins.get(key);
        if (login === undefined || login.isClaiming || this.#isStopped) continue;
        this.#broker.refresh(key);
        clearTimeout(login.next);
        login.next = this.#claimIn(REFRESH_MS, key, login);
      }
    } catch {
      // The next round checks again.
    }
  }
}

/** Sessions that this process may hold: fewer than it has if others are owed some. */
function allowedOf(claims: readonly SeenClaim[], limit: number): number {
  const all = claims.map((claim) => ({ ...claim, needs: claim, share: 0 }));
  shareOut(all, limit);
  const me = all.find(({ isMine }) => isMine);
  if (me === undefined) return 0;
  const theirs = all.reduce((total, { held, isMine }) => total + (isMine ? 0 : held), 0);
  return Math.min(me.held + me.waiting, me.share, Math.max(me.held, limit - theirs));
}
