/**
 * Numbers committed events: those of this process at once and, once it is started, also those that other nodes and threads
 * have left. Any node may number the events of any account; two nodes take turns at one account.
 */
import { MINUTE_MS } from '../contract/units.js';
import { pause } from '../base/deadline.js';
import { toGatewayError } from '../base/errors.js';
import { Periodic } from '../base/periodic.js';
import type { Agenda, EventFeeds, EventNumbers, StorageOptions } from '../storage/storage.js';

/** The wait while another node numbers the events of the same account. */
const AGAIN_MS = 20;
const PRUNE_EVERY_MS = 5 * MINUTE_MS;

interface SequencerOptions {
  readonly feeds: Pick<EventFeeds, 'on' | 'waiting' | 'prune'>;
  readonly numbers: EventNumbers;
  readonly agenda: Agenda;
  readonly retentionDays: number;
  /** The number of events that are kept for each account. */
  readonly perAccount: number;
  readonly log: StorageOptions['log'];
}

export class Sequencer {
  readonly #options: SequencerOptions;
  readonly #stopListening: (() => void)[];
  #running: Promise<void> | undefined;
  #isAsked = false;
  #isStopped = false;
  readonly #pruning = new Periodic(() => this.#prune(), PRUNE_EVERY_MS);

  constructor(options: SequencerOptions) {
    this.#options = options;
    this.#stopListening = [options.feeds.on('written', () => this.#ask())];
  }

  /** From now on it also numbers the events of others, and prunes the feeds. */
  start(): void {
    this.#ask();
    // Each thread numbers its own events at once. A thread that dies leaves some.
    this.#stopListening.push(this.#options.agenda.on('events', () => this.#ask()));
    this.#pruning.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const stop of this.#stopListening) stop();
    await Promise.all([this.#running, this.#pruning.stop()]);
  }

  #ask(): void {
    this.#isAsked = true;
    if (this.#isStopped) return;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  /** Never rejects: events that could not be numbered are found again later. */
  async #run(): Promise<void> {
    try {
      while (this.#isAsked && !this.#isStopped) {
        this.#isAsked = false;
        await this.#round();
      }
    } catch (error) {
      this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    this.#options.log('debug', 'events could not be numbered', { reason: toGatewayError(error).message });
  }

  /** One batch of each account in turn, so that an account with many events does not delay the others. */
  async #round(): Promise<void> {
    const { feeds, numbers } = this.#options;
    let total = 0;
    for (const account of await feeds.waiting()) {
      if (this.#isStopped) return;
      try {
        const { numbered, again } = await numbers.give(account);
        total += numbered;
        this.#isAsked ||= again;
      } catch (error) {
        // An error with the events of one account does not stop the others.
        this.#complain(error);
      }
    }
    if (this.#isAsked && total === 0) await pause(AGAIN_MS);
  }

  async #prune(): Promise<void> {
    const { feeds, retentionDays, perAccount, log } = this.#options;
    try {
      while (!this.#isStopped && (await feeds.prune(retentionDays, perAccount)));
    } catch (error) {
      log('debug', 'old events could not be taken away', { reason: toGatewayError(error).message });
    }
  }
}
