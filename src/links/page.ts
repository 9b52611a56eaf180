/**
 * The pages of links, for people: one answer that loads nothing else, so that an operator may open only /l/ to the
 * internet. Their policy allows one script and one style, by their hash. Names of files come from strangers: everything
 * is escaped.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ErrorCode, GatewayError } from '../base/errors.js';
import { inPackage } from '../base/package-root.js';
import { visible } from '../base/visible.js';
import type { Brand } from '../contract/brand.js';
import type { OpenedLink } from '../storage/storage.js';
import { logoOf, styleOf } from './brand.js';
import { LinkEnded } from './refusals.js';
import type { Language } from '../contract/languages.js';
import { languageOf, PAGE_TEXTS, type PageTexts } from './texts.js';
import { escapeHtml } from '../base/html.js';
import { sizeFormat } from '../contract/units.js';

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

const PAGE_HEADERS = {
  ...PRIVATE,
  'Content-Type': 'text/html; charset=utf-8',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  Vary: 'Accept, Accept-Language',
} as const;

const SCRIPT_SOURCE = `script-src ${hashOf(SCRIPT)}`;
const STYLE_HASH = hashOf(STYLE);

/** Images are allowed only where the brand has a logo, and a second style only where it has a colour. */
function policyFor(logo: string, style: string): string {
  return [
    "default-src 'none'",
    SCRIPT_SOURCE,
    `style-src ${[STYLE_HASH, ...(style === '' ? [] : [hashOf(style)])].join(' ')}`,
    ...(logo === '' ? [] : ['img-src data:']),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** A browser that opens the address; programs accept anything. */
export function wantsPage(headers: Headers): boolean {
  return /(?:^|,)\s*text\/html\s*(?:[;,]|$)/i.test(headers.get('accept') ?? '');
}

type PageContent =
  /** `maxBytes`: 0 = no limit. */
  | { readonly upload: OpenedLink; readonly maxBytes: number }
  | { readonly download: OpenedLink; readonly file: { readonly name: string; readonly size: number } }
  | { readonly error: GatewayError };

interface Page {
  readonly title: string;
  readonly parts: readonly string[];
}

const NO_BRAND: Brand = { name: null, color: null, logo: null };

/** Header fields and body of the answer. */
export function linkPage(
  headers: Headers,
  content: PageContent,
  brand = NO_BRAND,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const language = languageOf(headers.get('accept-language'));
  const [logo, style] = [logoOf(brand), styleOf(brand)];
  return {
    headers: { ...PAGE_HEADERS, 'Content-Security-Policy': policyFor(logo, style) },
    body: document(language, logo, style, pageOf(language, content, brand)),
  };
}

function pageOf(language: Language, content: PageContent, brand: Brand): Page {
  const words = PAGE_TEXTS[language];
  if ('upload' in content) return uploadPage(language, words, content, brand);
  if ('download' in content) return downloadPage(language, words, content, brand);
  return { title: words.errors.title, parts: [`<p role="alert">${escapeHtml(explain(words, content.error))}</p>`] };
}

/** Who asks for it, if the account says who it is. */
const titleOf = ({ name: who }: Brand, words: string, plain: string): string =>
  who === null ? plain : words.replace('{name}', () => visible(who));

function uploadPage(
  language: Language,
  words: PageTexts,
  { upload: link, maxBytes }: Extract<PageContent, { upload: OpenedLink }>,
  brand: Brand,
): Page {
  const isOne = link.filename !== null || link.maxUses === 1;
  const { titleOfOne, title, asksForOne, asks } = words.upload;
  const heading = isOne ? titleOf(brand, asksForOne, titleOfOne) : titleOf(brand, asks, title);
  const facts = [
    ...(maxBytes === 0 ? [] : [[words.facts.most, escapeHtml(sizeFormat(language)(maxBytes))] as const]),
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
  const takesFolders = link.folders && !isOne;
  const data = { words: texts, language, maxBytes, filename: link.filename, isOne, takesFolders };
  const storedAs = link.filename === null ? '' : `<p>${filled(words.upload.storedAs, link.filename)}</p>`;
  const parts = [
    `<p>${escapeHtml(words.upload.lead)}</p>${about(link)}${storedAs}`,
    `<div class="drop" data-page="${escapeHtml(JSON.stringify(data))}">`,
    `<p>${escapeHtml(isOne ? words.upload.dropOne : takesFolders ? words.upload.dropFolders : words.upload.drop)}</p>`,
    chooser(isOne ? words.upload.chooseOne : words.upload.choose, isOne ? '' : 'multiple'),
    ...(takesFolders ? [chooser(words.upload.chooseFolder, 'webkitdirectory')] : []),
    '</div>',
    '<p class="total" role="status"></p>',
    `<ul class="files"></ul>${factList(facts)}`,
    `<noscript><p>${escapeHtml(words.upload.noScript)}</p><pre>curl -T FILE '…?filename=FILE'</pre></noscript>`,
  ];
  return { title: heading, parts };
}

function downloadPage(
  language: Language,
  words: PageTexts,
  { download: link, file }: Extract<PageContent, { download: OpenedLink }>,
  brand: Brand,
): Page {
  const facts = [
    [words.download.size, escapeHtml(sizeFormat(language)(file.size))] as const,
    ...usesLeft(link, words.facts.downloadsLeft),
    [words.facts.expires, timeIn(language, link.expiresAt)] as const,
  ];
  const parts = [
    `${about(link)}<p class="name">${name(file.name)}</p>${factList(facts)}`,
    `<p><a class="button" href="?download=1" download>${escapeHtml(words.download.button)}</a></p>`,
  ];
  return { title: titleOf(brand, words.download.shares, words.download.title), parts };
}

function explain({ errors }: PageTexts, error: GatewayError): string {
  if (error instanceof LinkEnded) return `${errors.gone[error.ending]} ${errors.ask}`;
  if (error.code === 'unknown_item') return errors.unknown;
  if (error.code === 'gone') return `${errors.changed} ${errors.ask}`;
  const codes: Partial<Record<ErrorCode, string>> = errors.codes;
  return codes[error.code] ?? errors.server;
}

/** What the link is for. */
function about({ note }: OpenedLink): string {
  return note === null ? '' : `<blockquote><bdi>${escapeHtml(visible(note, undefined, '\n'))}</bdi></blockquote>`;
}

const name = (text: string): string => `<bdi>${escapeHtml(visible(text))}</bdi>`;

function usesLeft({ maxUses, uses }: OpenedLink, label: string): (readonly [string, string])[] {
  return maxUses === null ? [] : [[label, String(Math.max(0, maxUses - uses))]];
}

const chooser = (label: string, attribute: string): string =>
  `<label class="button"><input type="file" ${attribute}>${escapeHtml(label)}</label>`;

/** Labels are texts, values are HTML. */
function factList(facts: readonly (readonly [string, string])[]): string {
  const rows = facts.map(([label, value]) => `<div><dt>${escapeHtml(label)}</dt><dd>${value}</dd></div>`);
  return `<dl>${rows.join('')}</dl>`;
}

function document(language: Language, logo: string, style: string, { title, parts }: Page): string {
  return [
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">',
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style>`,
    `${style === '' ? '' : `<style>${style}</style>`}</head>`,
    `<body><main>${logo}<h1>${escapeHtml(title)}</h1>`,
    ...parts,
    `</main><script type="module">${SCRIPT}</script></body></html>`,
  ].join('\n');
}

const filled = (words: string, inserted: string): string =>
  words
    .split('{name}')
    .map(escapeHtml)
    .join(`<strong>${name(inserted)}</strong>`);

/** In UTC. The script of the page writes it in the reader's time zone. */
function timeIn(language: Language, time: Date): string {
  const format = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const;
  const inUtc = `${new Intl.DateTimeFormat(language, format).format(time)} UTC`;
  return `<time datetime="${time.toISOString()}">${escapeHtml(inUtc)}</time>`;
}
