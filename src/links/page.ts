/**
 * The pages of links, for people: one answer that loads nothing else, so that an operator may open only /l/ to the
 * internet. Their policy allows one script and one style, by their hash. Names of files come from strangers: everything
 * is escaped.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { GatewayError } from '../base/errors.js';
import { inPackage } from '../base/package-root.js';
import { visible } from '../base/visible.js';
import type { OpenedLink } from '../storage/storage.js';
import { LinkEnded } from './refusals.js';
import { LANGUAGES, type Language, languageOf, type PageTexts } from './texts.js';
import { escapeHtml } from '../base/html.js';

type Headers = ReadonlyMap<string, string>;

/** The output of `npm run build` for src/dashboard/web/link, escaped for its place. */
const built = (name: string): string => readFileSync(inPackage(`dist/links/${name}`), 'utf8').replaceAll('</', '<\\/');
const SCRIPT = built('link.js');
const STYLE = built('link.css');

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The secret of a link is not passed on to other sites, and what it returns is not used as a page. */
export const PRIVATE = {
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
} as const;

export const PAGE_HEADERS = {
  ...PRIVATE,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `script-src ${hashOf(SCRIPT)}`,
    `style-src ${hashOf(STYLE)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  Vary: 'Accept, Accept-Language',
} as const;

/** A browser that opens the address; programs accept anything. */
export function wantsPage(headers: Headers): boolean {
  return /(?:^|,)\s*text\/html\s*(?:[;,]|$)/i.test(headers.get('accept') ?? '');
}

type PageContent =
  /** `maxBytes`: 0 = no limit. */
  | { readonly upload: OpenedLink; readonly maxBytes: number }
  | { readonly download: OpenedLink; readonly file: { readonly name: string; readonly size: number } }
  | { readonly error: GatewayError };

export function linkPage(headers: Headers, content: PageContent): string {
  const language = languageOf(headers.get('accept-language'));
  const words = LANGUAGES[language];
  if ('upload' in content) return uploadPage(language, words, content);
  if ('download' in content) return downloadPage(language, words, content);
  return errorPage(language, words, content.error);
}

function uploadPage(
  language: Language,
  words: PageTexts,
  { upload: link, maxBytes }: Extract<PageContent, { upload: OpenedLink }>,
): string {
  const isOne = link.filename !== null || link.maxUses === 1;
  const title = isOne ? words.upload.titleOfOne : words.upload.title;
  const facts = [
    ...(maxBytes === 0 ? [] : [[words.facts.most, escapeHtml(bytesIn(language, maxBytes))] as const]),
    ...usesLeft(link, words.facts.usesLeft),
    [words.facts.expires, timeIn(language, link.expiresAt)] as const,
  ];
  const texts = {
    states: words.states,
    total: words.total,
    receipt: words.receipt,
    codes: words.errors.codes,
    server: words.errors.server,
    network: words.errors.network,
  };
  const data = { words: texts, language, maxBytes, isOne };
  const storedAs = link.filename === null ? '' : `<p>${filled(words.upload.storedAs, link.filename)}</p>`;
  return document(language, title, [
    `${from(link, isOne ? words.upload.leadOfOne : words.upload.leadOf)}${about(link)}`,
    link.sender === null ? `<p>${escapeHtml(words.upload.lead)}</p>` : '',
    storedAs,
    `<div class="drop" data-page="${escapeHtml(JSON.stringify(data))}">`,
    `<p>${escapeHtml(isOne ? words.upload.dropOne : words.upload.drop)}</p>`,
    `<label class="button"><input type="file"${isOne ? '' : ' multiple'}>${escapeHtml(isOne ? words.upload.chooseOne : words.upload.choose)}</label>`,
    '</div>',
    '<p class="total" role="status"></p>',
    `<ul class="files"></ul>${factList(facts)}`,
    `<noscript><p>${escapeHtml(words.upload.noScript)}</p><pre>curl -T FILE '…?filename=FILE'</pre></noscript>`,
  ]);
}

function downloadPage(
  language: Language,
  words: PageTexts,
  { download: link, file }: Extract<PageContent, { download: OpenedLink }>,
): string {
  const facts = [
    [words.download.size, escapeHtml(bytesIn(language, file.size))] as const,
    ...usesLeft(link, words.facts.downloadsLeft),
    [words.facts.expires, timeIn(language, link.expiresAt)] as const,
  ];
  return document(language, words.download.title, [
    `${from(link, words.download.leadOf)}${about(link)}<p class="name">${name(file.name)}</p>${factList(facts)}`,
    `<p><a class="button" href="?download=1" download>${escapeHtml(words.download.button)}</a></p>`,
  ]);
}

function errorPage(language: Language, words: PageTexts, error: GatewayError): string {
  return document(language, words.errors.title, [`<p role="alert">${escapeHtml(explain(words, error))}</p>`]);
}

function explain({ errors }: PageTexts, error: GatewayError): string {
  if (error instanceof LinkEnded) return `${errors.gone[error.ending]} ${errors.ask}`;
  if (error.code === 'unknown_item') return errors.unknown;
  if (error.code === 'gone') return `${errors.changed} ${errors.ask}`;
  return errors.codes[error.code] ?? errors.server;
}

/** Who made the link. */
function from({ sender }: OpenedLink, lead: string): string {
  return sender === null ? '' : `<p>${filled(lead, sender)}</p>`;
}

/** What the link is for. */
function about({ note }: OpenedLink): string {
  return note === null ? '' : `<blockquote><bdi>${escapeHtml(visible(note, undefined, '\n'))}</bdi></blockquote>`;
}

const name = (text: string): string => `<bdi>${escapeHtml(visible(text))}</bdi>`;

function usesLeft({ maxUses, uses }: OpenedLink, label: string): (readonly [string, string])[] {
  return maxUses === null ? [] : [[label, String(Math.max(0, maxUses - uses))]];
}

/** Labels are texts, values are HTML. */
function factList(facts: readonly (readonly [string, string])[]): string {
  const rows = facts.map(([label, value]) => `<div><dt>${escapeHtml(label)}</dt><dd>${value}</dd></div>`);
  return `<dl>${rows.join('')}</dl>`;
}

function document(language: Language, title: string, parts: readonly string[]): string {
  return [
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">',
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>`,
    `<body><main><h1>${escapeHtml(title)}</h1>`,
    ...parts,
    `</main><script type="module">${SCRIPT}</script></body></html>`,
  ].join('\n');
}

const filled = (words: string, inserted: string): string =>
  words
    .split('{name}')
    .map(escapeHtml)
    .join(`<strong>${name(inserted)}</strong>`);

function bytesIn(language: Language, bytes: number): string {
  const power = Math.min(4, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const unit = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'][power] ?? 'byte';
  const format = {
    style: 'unit',
    unit,
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  } as const;
  return new Intl.NumberFormat(language, format).format(bytes / 1000 ** power);
}

/** In UTC. The script of the page writes it in the reader's time zone. */
function timeIn(language: Language, time: Date): string {
  const format = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const;
  const inUtc = `${new Intl.DateTimeFormat(language, format).format(time)} UTC`;
  return `<time datetime="${time.toISOString()}">${escapeHtml(inUtc)}</time>`;
}
