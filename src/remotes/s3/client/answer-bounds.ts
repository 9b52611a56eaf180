import { GatewayError } from '../../../base/errors.js';

/** A page of 1,000 keys, the most that stores give, each of 1,024 bytes and percent-encoded. */
const MAX_BYTES = 3_500_000;
/** Such a page has some 22,000 tags of 250 kB in all, and 2,000 references. */
const MAX_TAGS = 25_000;
const MAX_TAG_BYTES = 400 << 10;
const MAX_REFERENCES = 10_000;

const OPEN = 0x3c;
const CLOSE = 0x3e;
const REFERENCE = 0x26;

/**
 * What an answer may ask of its parser, which takes it in one piece: some 50 ms. Tags and references cost many times as
 * much as text of their length.
 */
export class AnswerBounds {
  #bytes = 0;
  #tags = 0;
  #tagBytes = 0;
  #references = 0;
  #isInTag = false;

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws GatewayError protocol_error */
  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) throw tooLong(`${MAX_BYTES} bytes`);
    this.#addTags(chunk);
    for (let at = chunk.indexOf(REFERENCE); at !== -1; at = chunk.indexOf(REFERENCE, at + 1)) {
      if (++this.#references > MAX_REFERENCES) throw tooLong(`${MAX_REFERENCES} references`);
    }
  }

  #addTags(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      const found = chunk.indexOf(this.#isInTag ? CLOSE : OPEN, at);
      const end = found === -1 ? chunk.length : found;
      if (this.#isInTag) this.#tagBytes += end - at;
      else if (found !== -1) this.#tags += 1;
      if (this.#tags > MAX_TAGS) throw tooLong(`${MAX_TAGS} tags`);
      if (this.#tagBytes > MAX_TAG_BYTES) throw tooLong(`${MAX_TAG_BYTES} bytes of tags`);
      if (found === -1) return;
      this.#isInTag = !this.#isInTag;
      at = found + 1;
    }
  }
}

function tooLong(what: string): GatewayError {
  const text = `the store answered with more than ${what} where a short answer belongs`;
  return new GatewayError('protocol_error', text, { step: 'transfer' });
}
