/** The frame of every page: search, contents at the side, the page's own headings, previous and next. */
import type { LinkGroup } from '../api/openapi/reference-page.js';
import { escapeHtml as escape } from '../base/html.js';
import type { Heading } from './markdown.js';

export interface Assets {
  readonly style: string;
  readonly script: string;
  /** Runs before anything is drawn: sets the reader's colour scheme. */
  readonly theme: string;
  readonly icon: string;
}

interface ShellPage {
  readonly address: string;
  readonly title: string;
  readonly html: string;
  readonly guides: readonly LinkGroup[];
  /** For the reference: the operations of this page. */
  readonly operations?: readonly LinkGroup[];
  /** Listed beside the content. */
  readonly headings: readonly Heading[];
  readonly previous?: Neighbour | undefined;
  readonly next?: Neighbour | undefined;
  /** Paths of data for the scripts: the index of the search, and the forms of a reference page. */
  readonly data: { readonly search: string; readonly forms?: string };
}

interface Neighbour {
  readonly href: string;
  readonly text: string;
}

const PLACES: readonly Neighbour[] = [
  { href: '/docs', text: 'API' },
  { href: '/manage/docs', text: 'Management API' },
  { href: '/', text: 'Dashboard' },
];

export function shell(page: ShellPage, assets: Assets): string {
  const { address, title, html, headings, data, operations } = page;
  const kind = operations === undefined ? 'guide' : 'reference';
  const forms = data.forms === undefined ? '' : ` data-forms="${data.forms}"`;
  const [home = ''] = page.guides.flatMap(({ links }) => links.map(({ href }) => href));
  const places = [{ href: home, text: 'Guides' }, ...PLACES];
  const place = operations === undefined ? home : address;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} · File Transfer Gateway</title>
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.theme}"></script>
<script type="module" src="${assets.script}"></script>
</head>
<body class="${kind}" data-search="${data.search}"${forms}>
<a class="skip" href="#site-content">Skip to the content</a>
<header class="top">
<button type="button" class="menu" aria-expanded="false" aria-controls="site-contents" hidden>Contents</button>
<a class="brand" href="${home}">File Transfer Gateway</a>
<div class="search" role="search"></div>
<nav class="places" aria-label="Main">${places.map((one) => link(one, place)).join('')}</nav>
<button type="button" class="theme" hidden></button>
</header>
<div class="columns">
<nav class="contents" id="site-contents" aria-label="Contents">
${operations === undefined ? '' : operations.map((group, at) => listed(group, address, at === 0, ' name="operations"')).join('\n')}
${operations === undefined ? '' : '<p class="divider">Guides</p>'}
${page.guides.map((group) => listed(group, address, address === home)).join('\n')}
</nav>
<main id="site-content" tabindex="-1">
${html}
${neighbours(page)}
</main>
${headings.length < 2 ? '' : onThisPage(headings)}
</div>
</body>
</html>
`;
}

function link({ href, text }: Neighbour, here: string): string {
  return `<a href="${escape(href)}"${href === here ? ' aria-current="page"' : ''}>${escape(text)}</a>`;
}

/** `name`: only one group with the same name is open at a time. */
function listed({ title, links }: LinkGroup, here: string, isOpen: boolean, name = ''): string {
  const holdsPage = links.some(({ href }) => href === here);
  const items = links.map((one) => `<li>${link(one, here)}</li>`).join('');
  return `<details${name}${isOpen || holdsPage ? ' open' : ''}><summary>${escape(title)}</summary><ul>${items}</ul></details>`;
}

function onThisPage(headings: readonly Heading[]): string {
  const items = headings.map(
    ({ depth, id, title }) => `<li class="depth-${depth}"><a href="#${escape(id)}">${escape(title)}</a></li>`,
  );
  return `<nav class="on-page" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></nav>`;
}

function neighbours({ previous, next }: ShellPage): string {
  if (previous === undefined && next === undefined) return '';
  const one = (which: string, neighbour: Neighbour | undefined): string =>
    neighbour === undefined
      ? ''
      : `<a class="${which}" rel="${which === 'next' ? 'next' : 'prev'}" href="${escape(neighbour.href)}"><span>${which === 'next' ? 'Next' : 'Previous'}</span> ${escape(neighbour.text)}</a>`;
  return `<nav class="neighbours" aria-label="Previous and next">${one('previous', previous)}${one('next', next)}</nav>`;
}
