/** The search: a combobox (ARIA 1.2) over the index from the build, loaded at first use. */
import type MiniSearch from 'minisearch';
import { type Entry, find, type Hit, SEARCH } from '../search.ts';
import { make } from './dom.ts';

const MOST = 12;
const EXCERPT = 160;
export function setUpSearch(place: Element | null, indexPath: string): void {
  if (place === null) return;
  let index: Promise<MiniSearch<Entry>> | undefined;
  const load = (): Promise<MiniSearch<Entry>> => (index ??= loadIndex(indexPath));
  const input = make('input', {
    type: 'search',
    role: 'combobox',
    placeholder: 'Search (press /)',
    'aria-label': 'Search the documentation',
    autocomplete: 'off',
    spellcheck: 'false',
    enterkeyhint: 'go',
    'aria-expanded': 'false',
    'aria-controls': 'site-results',
    'aria-autocomplete': 'list',
  });
  const list = make('ul', { id: 'site-results', role: 'listbox', 'aria-label': 'Found', hidden: true });
  const count = make('p', { class: 'hidden', role: 'status' });
  place.append(input, list, count);
  let active = -1;
  let asked = 0;

  const activate = (next: number): void => {
    list.children[active]?.setAttribute('aria-selected', 'false');
    active = next;
    const option = list.children[active];
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({ block: 'nearest' });
    if (option === undefined) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', option.id);
  };
  const show = (hits: readonly Hit[]): void => {
    list.replaceChildren(...hits.map(optionOf));
    list.hidden = hits.length === 0;
    input.setAttribute('aria-expanded', String(hits.length > 0));
    active = -1;
    activate(hits.length > 0 ? 0 : -1);
  };
  const search = async (): Promise<void> => {
    const mine = ++asked;
    const text = input.value.trim();
    const hits = text === '' ? [] : find(await load(), text).slice(0, MOST);
    if (mine !== asked) return;
    show(hits);
    count.textContent = text === '' ? '' : hits.length === 0 ? 'Nothing found' : `${hits.length} found`;
    count.classList.toggle('hidden', text === '' || hits.length > 0);
  };
  const close = (): void => {
    asked++;
    show([]);
    count.textContent = '';
  };
  const go = (option: Element | null | undefined, inNewTab = false): void => {
    if (!(option instanceof HTMLElement)) return;
    const address = option.dataset['address'] ?? '';
    input.blur();
    if (inNewTab) open(address, '_blank', 'noopener');
    else location.assign(address);
  };

  input.addEventListener('focus', () => void load());
  input.addEventListener('input', () => void search());
  input.addEventListener('keydown', (event) => {
    const last = list.children.length - 1;
    if (event.key === 'ArrowDown') activate(active >= last ? 0 : active + 1);
    else if (event.key === 'ArrowUp') activate(active <= 0 ? last : active - 1);
    else if (event.key === 'Enter') go(list.children[active], event.ctrlKey || event.metaKey);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  });
  // The focus stays in the field, so that a click does not first close the list.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', ({ target, ctrlKey, metaKey }) => {
    if (target instanceof Element) go(target.closest('li'), ctrlKey || metaKey);
  });
  input.addEventListener('blur', close);
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

async function loadIndex(path: string): Promise<MiniSearch<Entry>> {
  const [{ default: Search }, answer] = await Promise.all([import('minisearch'), fetch(path)]);
  return Search.loadJSON<Entry>(await answer.text(), SEARCH);
}

function optionOf({ found: { title, page, address, text }, words }: Hit, index: number): HTMLElement {
  const place = title === page ? undefined : make('span', { class: 'where' }, page);
  const excerpt = make('span', { class: 'excerpt' }, ...marked(excerptOf(text, words), words));
  const fields = { role: 'option', id: `site-result-${index}`, 'aria-selected': 'false', 'data-address': address };
  return make('li', fields, make('strong', {}, ...marked(title, words)), place, excerpt);
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const from = first < EXCERPT / 2 ? 0 : text.indexOf(' ', first - EXCERPT / 3) + 1;
  const cut = text.slice(from, from + EXCERPT);
  return `${from > 0 ? '… ' : ''}${cut}${from + EXCERPT < text.length ? ' …' : ''}`;
}

/** The text in pieces; matches are in `mark`. */
function marked(text: string, words: readonly string[]): (Node | string)[] {
  if (words.length === 0) return [text];
  const anyOf = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return text
    .split(new RegExp(`(${anyOf})`, 'i'))
    .map((piece, index) => (index % 2 === 1 ? make('mark', {}, piece) : piece));
}
