/**
 * Looks at every account in its turn for what needs a person, tells the event feed what is new and what is over, and sends
 * the mails. Any node looks and sends; a claim keeps two from doing the same.
 */
import { type AttentionStorage, findAttention } from '../attention/find.js';
import { isUrgent, itemOf, keyOf } from '../attention/items.js';
import type { Language } from '../attention/words.js';
import { pause } from '../base/deadline.js';
import { toGatewayError } from '../base/errors.js';
import type { Alarm, AlarmRecipients, Alarms, ClaimedLook, DueMail, Log, MailOutcome } from '../storage/storage.js';
import { alarmMail } from './compose.js';
import { attentionEvent } from './events.js';
import { type Mailer, MailRefused } from './mailer.js';
import { quietUntil } from './quiet-hours.js';

export interface AlarmWatchOptions {
  readonly storage: AttentionStorage & { readonly alarms: Alarms; readonly alarmRecipients: AlarmRecipients };
  readonly mailer: Pick<Mailer, 'isConfigured' | 'send'>;
  /** Actions of a plan a month. */
  readonly monthlyActions: (plan: string) => number;
  readonly publicUrl: string;
  readonly log: Log;
  /** 0 = never. */
  readonly everySeconds: number;
  /** By which mails wait. */
  readonly clock?: () => Date;
}

const TICK_MS = 2000;
/** A tick looks at no more accounts: what many accounts cost the database is bounded, and each is looked at less often. */
const LOOKS_A_TICK = 20;
const LOOKS_AT_ONCE = 2;
const MAILS_AT_ONCE = 8;
/** A mail to one recipient. */
const MAIL_EVERY_MS = 15 * 60_000;
const RETRY_MS = [30_000, 60_000, 120_000, 300_000, 900_000];
const GIVE_UP_MS = 24 * 3_600_000;
const CLEAN_EVERY_MS = 3_600_000;

export class AlarmWatch {
  readonly #options: AlarmWatchOptions;
  readonly #stopped = new AbortController();
  #running: Promise<unknown> | undefined;
  #cleanedAt = -Infinity;

  constructor(options: AlarmWatchOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#options.everySeconds === 0) return;
    // Apart: a mail server that says nothing holds up no look.
    this.#running = Promise.all([
      this.#go('what needs a person could not be looked for', () => this.look()),
      this.#go('mails could not be looked for', () => this.mail()),
    ]);
  }

  /** What is being sent is sent to its end. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** Looks at the accounts that are due. */
  async look(): Promise<void> {
    const { alarms } = this.#options.storage;
    const everyMs = this.#options.everySeconds * 1000;
    if (performance.now() - this.#cleanedAt > CLEAN_EVERY_MS) {
      this.#cleanedAt = performance.now();
      await alarms.deleteOld();
    }
    await alarms.enrol(everyMs);
    const due = [...(await alarms.claim(LOOKS_A_TICK, everyMs))];
    const lookOn = async (): Promise<void> => {
      for (let next = due.shift(); next !== undefined && !this.#stopped.signal.aborted; next = due.shift()) {
        await this.#lookAt(next);
      }
    };
    await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, lookOn));
  }

  /** Sends the mails that are due. */
  async mail(): Promise<void> {
    const { storage, mailer } = this.#options;
    if (!mailer.isConfigured) return;
    const due = await storage.alarmRecipients.claim(this.#now(), MAILS_AT_ONCE);
    await Promise.all(
      due.map(async (mail) => {
        await storage.alarmRecipients.finish(mail, await this.#send(mail));
      }),
    );
  }

  async #go(failed: string, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await work().catch((error: unknown) => {
        this.#options.log('debug', failed, { reason: toGatewayError(error).message });
      });
      await pause(TICK_MS, signal).catch(() => undefined);
    }
  }

  async #lookAt(look: ClaimedLook): Promise<void> {
    const { storage, monthlyActions, log } = this.#options;
    const { accountId, plan } = look;
    const subject = { accountId, monthlyActions: monthlyActions(plan) };
    const items = await findAttention(storage, subject, new Date());
    const found = items.map((item) => ({
      ...{ key: keyOf(item), kind: item.kind, isUrgent: isUrgent(item) },
      item: JSON.stringify(item),
    }));
    const settled = await storage.alarms.settle(look, found, attentionEvent);
    if (settled !== undefined && settled.raised > 0) log('info', 'something needs a person', { accountId, ...settled });
  }

  /** Never rejects for what the mail server does. */
  async #send(mail: DueMail): Promise<MailOutcome> {
    const { storage, mailer, publicUrl, log } = this.#options;
    const now = this.#now();
    const alarms = await storage.alarms.list(mail.accountId, mail.kinds, mail.sentAt);
    const fresh = alarms.filter(({ id, endedAt }) => endedAt === null && id > mail.told);
    if (fresh.length === 0) return { kind: 'nothing' };
    const mayBreak = mail.urgentBreaksQuiet && fresh.some(({ isUrgent: isWorst }) => isWorst);
    const quiet = mail.quiet === null ? undefined : quietUntil(mail.quiet, now);
    if (quiet !== undefined && !mayBreak) return { kind: 'quiet', until: quiet };
    const itemsOf = (some: readonly Alarm[]) => some.map(({ item }) => itemOf(item));
    const news = {
      fresh: itemsOf(fresh),
      goesOn: itemsOf(alarms.filter(({ id, endedAt }) => endedAt === null && id <= mail.told)),
      over: itemsOf(alarms.filter(({ id, endedAt }) => endedAt !== null && id <= mail.told)),
    };
    const told = Math.max(...fresh.map(({ id }) => id));
    try {
      const content = alarmMail(news, mail.language as Language, publicUrl);
      await mailer.send(mail.address, content, `alarm-${mail.accountId}-${told}`);
      return { kind: 'sent', told, at: now, notBefore: new Date(now.getTime() + MAIL_EVERY_MS) };
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      return this.#failed(mail, error.message, told, now, log);
    }
  }

  #failed(mail: DueMail, error: string, told: number, now: Date, log: Log): MailOutcome {
    const { accountId, attempts } = mail;
    const since = mail.failingSince ?? now;
    const isGivenUp = now.getTime() - since.getTime() >= GIVE_UP_MS;
    log('warn', isGivenUp ? 'a mail is given up' : 'a mail could not be sent', { accountId, attempts, reason: error });
    const pauseMs = RETRY_MS[Math.min(attempts, RETRY_MS.length - 1)] ?? MAIL_EVERY_MS;
    const notBefore = new Date(now.getTime() + pauseMs);
    if (isGivenUp) return { kind: 'given_up', error, told, notBefore };
    return { kind: 'failed', error, since, notBefore };
  }

  #now(): Date {
    return this.#options.clock?.() ?? new Date();
  }
}
