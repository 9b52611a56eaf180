/**
 * Splits the server's text into replies (RFC 959, 4.2): `250 done`, or `250-…` up to the next line that begins with
 * `250 `. Text outside of a reply is stray: some servers send more than their replies.
 */
import type { Reply } from './replies.js';

/** The beginning of a reply's line, however short, or an empty line. */
const BEGINS_REPLY = /^(?:\r?$|[1-6](?:$|\d(?:$|\d(?:$|[ \r-]))))/;
const LAST_LINE = /^\d{3}(?: |$)/;
const FIRST_LINE = /^\d{3}-/;

interface ReplyEvents {
  reply(reply: Reply): void;
  /** Called with a line, or the beginning of one, that belongs to no reply. */
  stray(line: string): void;
}

export class FtpReplyReader {
  readonly #events: ReplyEvents;
  /** The incomplete last line. */
  #rest = '';
  /** The lines of the incomplete reply. */
  #lines: string[] = [];
  #length = 0;

  constructor(events: ReplyEvents) {
    this.#events = events;
  }

  /** Characters of the incomplete reply or line. */
  get pending(): number {
    return this.#length + this.#rest.length;
  }

  accept(text: string): void {
    this.#rest += text;
    for (let end = this.#rest.indexOf('\n'); end >= 0; end = this.#rest.indexOf('\n')) {
      const line = this.#rest.slice(0, end).replace(/\r$/, '');
      this.#rest = this.#rest.slice(end + 1);
      this.#take(line);
    }
    if (this.#lines.length === 0 && !BEGINS_REPLY.test(this.#rest)) this.#events.stray(this.#rest);
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    const [first] = this.#lines;
    const isLast = LAST_LINE.test(line) && (first === undefined || line.startsWith(first.slice(0, 3)));
    if (first === undefined && !isLast && !FIRST_LINE.test(line)) return this.#events.stray(line);
    this.#lines.push(line);
    this.#length += line.length;
    if (!isLast) return;
    const text = this.#lines.join('\n');
    this.#lines = [];
    this.#length = 0;
    this.#events.reply({ code: Number(line.slice(0, 3)), text });
  }
}
