/** Sends mails through the operator's SMTP server. */
import type { Transporter } from 'nodemailer';
import { within } from '../base/deadline.js';
import type { Config } from '../config/schema.js';
import type { MailContent } from './compose.js';

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** Shorter than the claim of a mail, so that no other node begins it meanwhile. */
const LONGEST_MS = 45_000;
const SUBMISSION_PORT = 587;

/** A mail was refused; the message is for the account's owner, and contains nothing of the login. */
export class MailRefused extends Error {}

export class Mailer {
  readonly #config: Config['mail'];
  #transport: Promise<Transporter> | undefined;

  constructor(config: Config['mail']) {
    this.#config = config;
    // Imported at the start if mails are sent: an import that has failed once, for lack of a free descriptor, fails for
    // ever.
    if (this.isConfigured) this.#open().catch(() => undefined);
  }

  get isConfigured(): boolean {
    return this.#config.url !== '';
  }

  /** `id`: the same for the same mail, however often it is sent. @throws MailRefused */
  async send(address: string, { subject, text, html }: MailContent, id?: string): Promise<void> {
    const sent = this.#open().then((transport) =>
      transport.sendMail({
        from: this.#config.from,
        // An object is always parsed as one address.
        to: { name: '', address },
        subject,
        text,
        html,
        ...(id === undefined ? {} : { messageId: `<${id}@${this.#domain}>` }),
        // Prevents automatic answers to an alarm, such as absence notices (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      }),
    );
    // It may still fail after the wait for it has ended.
    sent.catch(() => undefined);
    try {
      await within(sent, LONGEST_MS, () => {
        throw new MailRefused(`the mail server did not take the mail within ${LONGEST_MS / 1000} s`);
      });
    } catch (error) {
      throw error instanceof MailRefused ? error : new MailRefused(reasonOf(error), { cause: error });
    }
  }

  get #domain(): string {
    return /@([A-Za-z0-9.-]+)/.exec(this.#config.from)?.[1] ?? 'localhost';
  }

  /** Loads the library: most processes send no mail. */
  #open(): Promise<Transporter> {
    this.#transport ??= import('nodemailer').then(({ createTransport }) => {
      const { protocol, hostname, port, username, password } = new URL(this.#config.url);
      const isSecure = protocol === 'smtps:';
      return createTransport({
        host: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? (isSecure ? 465 : SUBMISSION_PORT) : Number(port),
        secure: isSecure,
        // With another explicit port, the operator may know that there is no TLS.
        requireTLS: !isSecure && (port === '' || Number(port) === SUBMISSION_PORT),
        ...(username === ''
          ? {}
          : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
        connectionTimeout: CONNECT_MS,
        greetingTimeout: CONNECT_MS,
        dnsTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
      });
    });
    return this.#transport;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server refuses the login',
  ECONNECTION: 'the mail server cannot be reached',
  ESOCKET: 'the mail server cannot be reached',
  EDNS: 'the name of the mail server cannot be resolved',
  ETIMEDOUT: 'the mail server does not answer',
  ETLS: 'the mail server offers no TLS that can be used',
  EENVELOPE: 'the mail server refuses the sender or the recipient',
};
const REPLY_CHARS = 300;

/** Includes the server's own reply, which explains the cause best. */
function reasonOf(error: unknown): string {
  const { code, response, message } = error as { code?: string; response?: string; message?: string };
  const words = WORDS[code ?? ''] ?? 'the mail could not be sent';
  const detail = (response ?? (code === 'EAUTH' ? undefined : message) ?? '').replace(/\p{Cc}+/gu, ' ');
  return detail === '' ? words : `${words}: ${detail.slice(0, REPLY_CHARS)}`;
}
