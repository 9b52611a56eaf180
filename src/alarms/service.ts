/** The alarm settings of an account's owner, and the owner's requests. */
import { GatewayError, refusal } from '../base/errors.js';
import type { AlarmSettings } from '../contract/alarm.js';
import { type Language, LANGUAGES } from '../contract/languages.js';
import { ATTENTION, ATTENTION_KINDS } from '../contract/attention.js';
import type { Actor, AlarmRecipient, AlarmRecipients } from '../storage/storage.js';
import { plainMail } from './compose.js';
import { MAIL_WORDS } from './mail-words.js';
import { type Mailer, MailRefused } from './mailer.js';

export const MOST_RECIPIENTS = 5;

interface AlarmView extends AlarmSettings {
  readonly recipients: readonly AlarmRecipient[];
  readonly isMailConfigured: boolean;
}

/** Before anything was set. */
const UNSET: AlarmSettings = {
  isOn: false,
  kinds: ATTENTION_KINDS.filter((kind) => ATTENTION[kind].isPlanned !== true),
  language: LANGUAGES[0],
  quiet: null,
  urgentBreaksQuiet: false,
};

export class AlarmService {
  readonly #rows: AlarmRecipients;
  readonly #mailer: Pick<Mailer, 'isConfigured' | 'send'>;

  constructor(rows: AlarmRecipients, mailer: Pick<Mailer, 'isConfigured' | 'send'>) {
    this.#rows = rows;
    this.#mailer = mailer;
  }

  async show(accountId: string): Promise<AlarmView> {
    const [settings, recipients] = await Promise.all([this.#rows.settings(accountId), this.#rows.list(accountId)]);
    const { kinds, ...others } = settings ?? UNSET;
    return {
      ...others,
      // Stored values were checked; a kind that no longer exists is left out.
      kinds: ATTENTION_KINDS.filter((kind) => kinds.includes(kind)),
      recipients,
      isMailConfigured: this.#mailer.isConfigured,
    };
  }

  async save(actor: Actor, settings: AlarmSettings, addresses: readonly string[]): Promise<AlarmView> {
    await this.#rows.save(actor, settings, addresses);
    return this.show(actor.accountId);
  }

  /** @throws GatewayError unsupported_operation, unknown_item, rate_limited, remote_failure */
  async sendCode(actor: Actor, address: string): Promise<void> {
    this.#requireMail();
    const language = await this.#languageOf(actor.accountId);
    const code = await this.#rows.makeCode(actor, address);
    const { subject, text } = MAIL_WORDS[language].code;
    await this.#send(address, subject, text(actor.email, code), language);
  }

  /** @throws GatewayError forbidden */
  async confirm(actor: Actor, address: string, code: string): Promise<void> {
    if (await this.#rows.confirm(actor, address, code)) return;
    throw refusal('forbidden', 'this is not the code that was mailed last, or it has expired, or was tried too often');
  }

  /**
   * To every confirmed recipient. @throws GatewayError unsupported_operation, unknown_item, rate_limited,
   * remote_failure
   */
  async sendTest(accountId: string): Promise<readonly string[]> {
    this.#requireMail();
    const language = await this.#languageOf(accountId);
    const addresses = (await this.#rows.list(accountId)).flatMap((one) => (one.isConfirmed ? [one.address] : []));
    if (addresses.length === 0) throw refusal('unknown_item', 'no recipient has confirmed yet');
    await this.#rows.ask(accountId);
    const { subject, text } = MAIL_WORDS[language].test;
    await Promise.all(addresses.map((address) => this.#send(address, subject, text, language)));
    return addresses;
  }

  #requireMail(): void {
    if (this.#mailer.isConfigured) return;
    throw refusal('unsupported_operation', 'this gateway sends no mail: its operator has set no mail server');
  }

  async #languageOf(accountId: string): Promise<Language> {
    return ((await this.#rows.settings(accountId)) ?? UNSET).language;
  }

  async #send(address: string, subject: string, text: string, language: Language): Promise<void> {
    try {
      await this.#mailer.send(address, plainMail(subject, text, language));
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      throw new GatewayError('remote_failure', error.message, { cause: error });
    }
  }
}
