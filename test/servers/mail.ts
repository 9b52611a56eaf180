/** A real SMTP server that keeps the mails that it accepts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';
import { freePort } from '../support/ports.js';

export interface TakenMail {
  readonly to: readonly string[];
  /** Headers and body as they arrived. */
  readonly raw: string;
  /** Continued lines of a header are joined. */
  readonly headers: string;
  /** Decoded, like the text. */
  readonly subject: string;
  /** The plain text, decoded. */
  readonly text: string;
  readonly html: string;
}

export interface MailServer {
  readonly url: string;
  readonly taken: readonly TakenMail[];
  to(address: string): readonly TakenMail[];
  /** Refuses recipients as long as it is set. */
  refuse(address: string | undefined): void;
  /** Accepts mails only up to their end, until it resolves. */
  hold(until: Promise<void> | undefined): void;
  /** Resolves as soon as a mail has arrived whose acceptance is held. */
  held(): Promise<void>;
  stop(): Promise<void>;
  /** On the same port. */
  start(): Promise<void>;
}

export async function startMailServer(login?: {
  readonly user: string;
  readonly password: string;
}): Promise<MailServer> {
  const taken: TakenMail[] = [];
  // It may end and start again, and no other program gets the port meanwhile.
  const port = await freePort();
  let server: SMTPServer | undefined;
  let refused: string | undefined;
  let holding: Promise<void> | undefined;
  let onHeld = (): void => undefined;
  let held = Promise.resolve();
  const start = async (): Promise<void> => {
    server = new SMTPServer({
      disabledCommands: login === undefined ? ['STARTTLS', 'AUTH'] : ['STARTTLS'],
      allowInsecureAuth: true,
      authOptional: login === undefined,
      onAuth: ({ username, password }, _session, done) =>
        username === login?.user && password === login?.password
          ? done(null, { user: username })
          : done(new Error('no such login')),
      onRcptTo: ({ address }, _session, done) =>
        done(address === refused ? Object.assign(new Error('unknown here'), { responseCode: 550 }) : undefined),
      onData: (stream, { envelope }, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          onHeld();
          void (holding ?? Promise.resolve()).then(() => {
            const raw = Buffer.concat(chunks).toString();
            taken.push(
              mailOf(
                envelope.rcptTo.map(({ address }) => address),
                raw,
              ),
            );
            done();
          });
        });
      },
    });
    server.on('error', () => undefined);
    server.listen(port, '127.0.0.1');
    await once(server.server, 'listening');
  };
  await start();
  return {
    url: `smtp://${login === undefined ? '' : `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}@`}127.0.0.1:${port}`,
    taken,
    to: (address) => taken.filter(({ to }) => to.includes(address)),
    refuse: (address) => (refused = address),
    hold: (until) => {
      holding = until;
      held = new Promise((resolve) => (onHeld = resolve));
    },
    held: () => held,
    stop: () => new Promise<void>((resolve) => server?.close(resolve)),
    start,
  };
}

/** The code in a mail that asks for one. */
export function codeIn(mail: TakenMail | undefined): string {
  return /^[0-9A-Za-z]{10}$/m.exec(mail?.text ?? '')?.[0] ?? assert.fail('no mail with a code came');
}

function mailOf(to: readonly string[], raw: string): TakenMail {
  const end = raw.indexOf('\r\n\r\n');
  const headers = raw.slice(0, end).replace(/\r\n[ \t]+/g, ' ');
  const boundary = /boundary="([^"]+)"/.exec(headers)?.[1] ?? assert.fail('it has no parts');
  const parts = raw.slice(end).split(`--${boundary}`);
  const part = (type: string): string => {
    const found = parts.find((one) => one.includes(`Content-Type: ${type}`)) ?? assert.fail(`no ${type}`);
    const at = found.indexOf('\r\n\r\n');
    return decoded(found.slice(0, at), found.slice(at + 4));
  };
  const subject = /^Subject: (.*?)\r?$/m.exec(headers)?.[1] ?? '';
  return { to, raw, headers, subject: decodedWords(subject), text: part('text/plain'), html: part('text/html') };
}

function decoded(head: string, body: string): string {
  const [, encoding = '7bit'] = /Content-Transfer-Encoding: (\S+)/i.exec(head) ?? [];
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  const plain = body.replace(/\r\n/g, '\n');
  return encoding === 'quoted-printable' ? unquoted(plain.replace(/=\n/g, '')) : plain;
}

/** Decodes the text of a header (RFC 2047). */
function decodedWords(text: string): string {
  return text
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?UTF-8\?([QB])\?(.*?)\?=/gi, (_, form: string, word: string) =>
      form.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString() : unquoted(word.replace(/_/g, ' ')),
    );
}

function unquoted(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
