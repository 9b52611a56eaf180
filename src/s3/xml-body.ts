/** XML that clients send: bounded, without document types, read by fast-xml-parser. */
import { XMLParser } from 'fast-xml-parser';
import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Turns } from '../base/turns.js';
import { verifyDigest } from '../operations/pump.js';
import type { Call } from './call.js';
import { S3Error } from './errors.js';

/** A thousand keys of a kilobyte, or ten thousand parts. */
const MOST_BYTES = 2 * 1024 * 1024;
const WITHIN_MS = 60_000;
const HASHED_BYTES = 256 * 1024;
/** Parsing a slice, with the rest of its last item, takes 10 ms at most, even if it is full of tiny elements. */
const SLICE_CHARACTERS = 4 * 1024;
/** An item has a key of 1,024 bytes; each can be a reference. */
const MOST_SLICE_CHARACTERS = 3 * SLICE_CHARACTERS;
/** As many as a multipart upload has parts. */
const MOST_ITEMS = 10_000;
/** What a document has around the content of its root. */
const MOST_EDGE_CHARACTERS = 1_024;

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  parseTagValue: false,
  // A key may begin or end with a space.
  trimValues: false,
  removeNSPrefix: true,
  // It knows no references by number, which programs in Go write for quotes.
  processEntities: false,
});

/**
 * The document of `root`, a list of elements called `item`. It is parsed in slices: ten thousand parts at once would
 * hold the event loop for 300 ms. @throws S3Error MalformedXML, EntityTooLarge
 */
export async function readXmlList(call: Call, root: string, item: string): Promise<XmlList> {
  const content = contentOf(await readText(call), root);
  const others: Record<string, unknown> = {};
  const items: Element[] = [];
  const turns = new Turns();
  for (const slice of slicesOf(content, `</${item}>`)) {
    if (slice.trim() === '') continue;
    if (turns.isOver()) await turns.next();
    const { [item]: found = [], ...rest } = parse(`<${root}>${slice}</${root}>`, root);
    Object.assign(others, rest);
    for (const one of [found].flat()) {
      if (!isElement(one) || items.length === MOST_ITEMS) throw malformed();
      items.push(one);
    }
  }
  return { items, others };
}

interface XmlList {
  readonly items: readonly Element[];
  /** The other elements. */
  readonly others: Element;
}

type Element = Readonly<Record<string, unknown>>;

async function readText(call: Call): Promise<string> {
  const { request } = call;
  request.expectBodyWithin(WITHIN_MS);
  const body = await call.body();
  if (body.size > MOST_BYTES) {
    throw new S3Error('EntityTooLarge', `the document is larger than ${MOST_BYTES} bytes`, 'too_large');
  }
  // Memory for the bytes, the text and the parsed document.
  request.claims.memory.hold().require(4 * body.size);
  const bytes = typeof body.bytes === 'function' ? await body.bytes() : await gathered(body.bytes);
  const { digest } = body;
  if (digest !== undefined) verifyDigest(digest, await hashOf(bytes, digest.algorithm));
  const text = bytes.toString();
  // No document types, comments and sections: lists need none, and a slice could end in one.
  if (!isUtf8(bytes) || text.includes('<!')) throw malformed();
  return text;
}

async function gathered(stream: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function hashOf(bytes: Buffer, algorithm: string): Promise<Hash> {
  const hash = createHash(algorithm);
  const turns = new Turns();
  for (let from = 0; from < bytes.length; from += HASHED_BYTES) {
    if (turns.isOver()) await turns.next();
    hash.update(bytes.subarray(from, from + HASHED_BYTES));
  }
  return hash;
}

/** Looks only at the edges: an expression over the whole text would go through it many times. */
function contentOf(text: string, root: string): string {
  const open = new RegExp(`^\\s*(?:<\\?xml[^<>]*\\?>\\s*)?<${root}(?:\\s[^<>]*)?>`).exec(
    text.slice(0, MOST_EDGE_CHARACTERS),
  );
  const end = text.lastIndexOf(`</${root}`);
  const from = open?.[0].length ?? 0;
  const close = text.slice(end + root.length + 2);
  const isClosed = close.length <= MOST_EDGE_CHARACTERS && /^\s*>\s*$/.test(close);
  if (open === null || end < from || !isClosed) throw malformed();
  return text.slice(from, end);
}

function* slicesOf(content: string, end: string): Generator<string> {
  for (let from = 0; from < content.length;) {
    const at = content.indexOf(end, from + SLICE_CHARACTERS);
    const to = at < 0 ? content.length : at + end.length;
    if (to - from > MOST_SLICE_CHARACTERS) throw malformed();
    yield content.slice(from, to);
    from = to;
  }
}

function parse(text: string, root: string): Element {
  let document: unknown;
  try {
    document = parser.parse(text, true);
  } catch {
    throw malformed();
  }
  const content = isElement(document) ? document[root] : undefined;
  // A text without elements is none.
  if (!isElement(content)) throw malformed();
  return content;
}

const isElement = (value: unknown): value is Element =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of an element; undefined if there is none. @throws S3Error MalformedXML */
export function childText(element: Element, name: string): string | undefined {
  const value = element[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value.replace(REFERENCE, characterOf);
  throw malformed();
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const REFERENCE = /&(?:#x([\da-f]{1,6});|#(\d{1,7});|(\w{1,4});)?/gi;
const LAST_CODE_POINT = 0x10ffff;

/** @throws S3Error MalformedXML */
function characterOf(_reference: string, hex?: string, decimal?: string, name = ''): string {
  const code = hex !== undefined ? parseInt(hex, 16) : Number(decimal);
  const character = code <= LAST_CODE_POINT ? String.fromCodePoint(code) : ENTITIES[name];
  if (character?.isWellFormed() === true) return character;
  throw malformed();
}

export const malformed = (): S3Error => new S3Error('MalformedXML', 'the XML is not that of this operation');
