/** The scripts of the pages. Without them the pages are still readable. */
import { copyButton } from './dom.ts';
import { setUpSearch } from './search.ts';

const root = document.documentElement;

for (const block of document.querySelectorAll('.code')) {
  const text = block.querySelector('code')?.textContent ?? '';
  block.append(copyButton(() => text));
}

const menu = document.querySelector<HTMLButtonElement>('button.menu');
const contents = document.querySelector<HTMLElement>('nav.contents');
if (menu !== null && contents !== null) {
  const show = (isOpen: boolean): void => {
    menu.setAttribute('aria-expanded', String(isOpen));
    contents.classList.toggle('open', isOpen);
  };
  menu.hidden = false;
  menu.addEventListener('click', () => show(menu.getAttribute('aria-expanded') !== 'true'));
  contents.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLAnchorElement) show(false);
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && contents.classList.contains('open')) {
      show(false);
      menu.focus();
    }
  });
  contents.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
}

const theme = document.querySelector<HTMLButtonElement>('button.theme');
if (theme !== null) {
  const isDark = (): boolean =>
    (root.dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const name = (): void => {
    theme.textContent = isDark() ? '☀' : '☾';
    theme.setAttribute('aria-label', isDark() ? 'Light colours' : 'Dark colours');
  };
  theme.hidden = false;
  name();
  theme.addEventListener('click', () => {
    const chosen = isDark() ? 'light' : 'dark';
    root.dataset['theme'] = chosen;
    try {
      localStorage.setItem('ftg.theme', chosen);
    } catch {
      // Then the choice applies only to this page.
    }
    name();
  });
}

followReader();
setUpSearch(document.querySelector('.search'), document.body.dataset['search'] ?? '');
const { forms } = document.body.dataset;
if (forms !== undefined) void import('./try-it.ts').then(({ setUpForms }) => setUpForms(forms));

/** Marks the current section in the contents and in the list beside the page. */
function followReader(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('nav a[href^="#"]')].map((link) => [link.hash.slice(1), link]),
  );
  const targets = [...links.keys()].map((id) => document.getElementById(id)).filter((target) => target !== null);
  if (targets.length === 0) return;
  let marked: HTMLAnchorElement | undefined;
  const mark = (): void => {
    const above = targets.filter((target) => target.getBoundingClientRect().top < innerHeight / 3).at(-1);
    const link = links.get(above?.id ?? '');
    if (link === marked) return;
    marked?.removeAttribute('aria-current');
    link?.setAttribute('aria-current', 'true');
    link?.closest('details')?.setAttribute('open', '');
    if (link?.checkVisibility() === true) link.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    marked = link;
  };
  let isDue = false;
  document.addEventListener('scroll', () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      mark();
    });
  });
  mark();
}
