/**
 * Checks every account in turn for what needs a person, adds events for what is new and what is over, and sends the
 * mails. Any node checks and sends; a claim prevents two from doing the same.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../contract/units.js';
import { type AttentionStorage, findAttention } from '../attention/find.js';
import { isUrgent, itemOf, itemKeyOf } from '../attention/items.js';
import { toGatewayError } from '../base/errors.js';
import { retryDelay, type RetrySchedule } from '../base/retry-schedule.js';
import { WokenWork } from '../base/woken-work.js';
import type {
  Agenda,
  Alarm,
  AlarmRecipients,
  Alarms,
  ClaimedAccount,
  DueMail,
  Log,
  MailOutcome,
} from '../storage/storage.js';
import { alarmMail } from './compose.js';
import { attentionEvent } from './events.js';
import { type Mailer, MailRefused } from './mailer.js';
import { quietUntil } from './quiet-hours.js';

interface AlarmWatchOptions {
  readonly storage: AttentionStorage & {
    readonly agenda: Agenda;
    readonly alarms: Alarms;
    readonly alarmRecipients: AlarmRecipients;
  };
  readonly mailer: Pick<Mailer, 'isConfigured' | 'send'>;
  /** Actions of a plan per month. */
  readonly monthlyActions: (plan: string) => number;
  readonly publicUrl: string;
  readonly log: Log;
  /** 0 = never. */
  readonly everySeconds: number;
  /** The clock for waiting mails. */
  readonly clock?: () => Date;
}

const REST_MS = 2000;
/** Accounts per check: this bounds the database's work for many accounts; each is then checked less often. */
const ACCOUNTS_PER_CHECK = 20;
const CHECKS_AT_ONCE = 2;
const MAILS_AT_ONCE = 8;
/** The interval of mails to one recipient. */
const MAIL_EVERY_MS = 15 * MINUTE_MS;
const MAIL_RETRIES: RetrySchedule = { delaysMs: [30_000, 60_000, 120_000, 300_000, 900_000], isEndless: true };
const GIVE_UP_MS = DAY_MS;
const CLEAN_EVERY_MS = HOUR_MS;

export class AlarmWatch {
  readonly #options: AlarmWatchOptions;
  // Separate: a silent mail server delays no check.
  readonly #checks: WokenWork;
  readonly #mails: WokenWork;
  #stopListening: readonly (() => void)[] = [];
  #cleanedAt = -Infinity;

  constructor(options: AlarmWatchOptions) {
    this.#options = options;
    const { everySeconds, log } = options;
    const failed = (what: string) => (error: unknown) =>
      log('debug', `${what} could not be looked for`, { reason: toGatewayError(error).message });
    const checkDue = async (): Promise<void> => {
      if ((await this.check()) === ACCOUNTS_PER_CHECK) this.#checks.wake();
    };
    // New accounts are added now and then, even if no others are due.
    this.#checks = new WokenWork(checkDue, failed('what needs a person'), {
      restMs: REST_MS,
      everyMs: everySeconds * 1000,
    });
    this.#mails = new WokenWork(() => this.mail(), failed('mails'), { restMs: REST_MS });
  }

  start(): void {
    const { everySeconds, mailer, storage } = this.#options;
    if (everySeconds === 0) return;
    this.#stopListening = [
      storage.agenda.on('alarm-look', () => this.#checks.wake()),
      ...(mailer.isConfigured ? [storage.agenda.on('alarm-mail', () => this.#mails.wake())] : []),
    ];
    this.#checks.wake();
  }

  /** A mail under way is sent to its end. */
  async stop(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    await Promise.all([this.#checks.stop(), this.#mails.stop()]);
  }

  /** Checks the accounts that are due; resolves with their number. */
  async check(): Promise<number> {
    const { alarms } = this.#options.storage;
    const everyMs = this.#options.everySeconds * 1000;
    if (performance.now() - this.#cleanedAt > CLEAN_EVERY_MS) {
      this.#cleanedAt = performance.now();
      await alarms.deleteOld();
    }
    await alarms.enrol(everyMs);
    const due = [...(await alarms.claim(ACCOUNTS_PER_CHECK, everyMs))];
    const { length } = due;
    const checkNext = async (): Promise<void> => {
      for (let next = due.shift(); next !== undefined && !this.#checks.isStopped; next = due.shift()) {
        await this.#checkAccount(next);
      }
    };
    await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, checkNext));
    return length;
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

  async #checkAccount(claimed: ClaimedAccount): Promise<void> {
    const { storage, monthlyActions, log } = this.#options;
    const { accountId, plan } = claimed;
    const subject = { accountId, monthlyActions: monthlyActions(plan) };
    const items = await findAttention(storage, subject, new Date());
    const found = items.map((item) => ({
      key: itemKeyOf(item),
      kind: item.kind,
      isUrgent: isUrgent(item),
      item: JSON.stringify(item),
    }));
    const settled = await storage.alarms.settle(claimed, found, attentionEvent);
    if (settled !== undefined && settled.raised > 0) log('info', 'something needs a person', { accountId, ...settled });
  }

  /** Never rejects because of the mail server. */
  async #send(mail: DueMail): Promise<MailOutcome> {
    const { storage, mailer, publicUrl, log } = this.#options;
    const now = this.#now();
    const alarms = await storage.alarms.list(mail.accountId, mail.kinds, mail.sentAt);
    const fresh = alarms.filter(({ id, endedAt }) => endedAt === null && id > mail.lastMailed);
    if (fresh.length === 0) return { kind: 'nothing' };
    const mayBreak = mail.urgentBreaksQuiet && fresh.some(({ isUrgent: isWorst }) => isWorst);
    const quiet = mail.quiet === null ? undefined : quietUntil(mail.quiet, now);
    if (quiet !== undefined && !mayBreak) return { kind: 'quiet', until: quiet };
    const itemsOf = (some: readonly Alarm[]) => some.map(({ item }) => itemOf(item));
    const news = {
      fresh: itemsOf(fresh),
      goesOn: itemsOf(alarms.filter(({ id, endedAt }) => endedAt === null && id <= mail.lastMailed)),
      over: itemsOf(alarms.filter(({ id, endedAt }) => endedAt !== null && id <= mail.lastMailed)),
    };
    const lastMailed = Math.max(...fresh.map(({ id }) => id));
    try {
      const content = alarmMail(news, mail.language, publicUrl);
      await mailer.send(mail.address, content, `alarm-${mail.accountId}-${lastMailed}`);
      return { kind: 'sent', lastMailed, at: now, notBefore: new Date(now.getTime() + MAIL_EVERY_MS) };
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      return this.#failed(mail, error.message, lastMailed, now, log);
    }
  }

  #failed(mail: DueMail, error: string, lastMailed: number, now: Date, log: Log): MailOutcome {
    const { accountId, attempts } = mail;
    const since = mail.failingSince ?? now;
    const isGivenUp = now.getTime() - since.getTime() >= GIVE_UP_MS;
    log('warn', isGivenUp ? 'a mail is given up' : 'a mail could not be sent', { accountId, attempts, reason: error });
    const notBefore = new Date(now.getTime() + (retryDelay(MAIL_RETRIES, attempts + 1) ?? MAIL_EVERY_MS));
    if (isGivenUp) return { kind: 'given_up', error, lastMailed, notBefore };
    return { kind: 'failed', error, since, notBefore };
  }

  #now(): Date {
    return this.#options.clock?.() ?? new Date();
  }
}
