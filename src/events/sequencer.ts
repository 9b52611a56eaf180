/**
 * Numbers what was committed: at once what this process wrote, and, where it is started, whatever nodes and threads have
 * left. Any node may number any account's events; two that meet at one account take turns.
 */
import { pause } from '../base/deadline.js';
import { toGatewayError } from '../base/errors.js';
import { Periodic } from '../base/periodic.js';
import type { Agenda, EventFeeds, EventNumbers, StorageOptions } from '../storage/storage.js';

/** Another node is just numbering the same account's. */
const AGAIN_MS = 20;
const PRUNE_EVERY_MS = 5 * 60_000;

interface SequencerOptions {
  readonly feeds: Pick<EventFeeds, 'on' | 'waiting' | 'prune'>;
  readonly numbers: EventNumbers;
  readonly agenda: Agenda;
  readonly retentionDays: number;
  /** Events of each account that are kept. */
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

  /** From now on it looks for what others have written, too, and prunes. */
  start(): void {
    this.#ask();
    // For events without a number: each thread numbers its own at once, unless it dies first.
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

  /** Never rejects: what fails stays, and is found at a later look. */
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

  /** A batch of each account in turn: one with very many holds up no other. */
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
        // Whatever is wrong with one account's events, the others go on.
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
