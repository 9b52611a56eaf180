/** The entry point: applies the theme and loads the texts, then the page. */
import type { Language } from '../../contract/languages.ts';
import { applyTheme, language } from './preferences.ts';
import './styles/base.css';
import './styles/deliveries.css';
import './styles/folder-picker.css';
import './styles/parts.css';
import './styles/files.css';
import './styles/queue.css';
import './styles/screens.css';
import './styles/shell.css';
import './styles/tokens.css';
import { loadFirstTexts } from './texts/texts.ts';
import { patiently } from './ui/patiently.ts';

/** Here, because the other texts may have failed to load. */
const NOT_LOADED: Readonly<Record<Language, { readonly text: string; readonly again: string }>> = {
  en: { text: 'The page could not be loaded: the gateway cannot be reached.', again: 'Try again' },
  de: {
    text: 'Die Seite konnte nicht geladen werden: Das Gateway ist nicht erreichbar.',
    again: 'Erneut versuchen',
  },
};

applyTheme();
const root = document.getElementById('app');
if (root === null) throw new Error('the page has no #app');
await start(root);

async function start(root: HTMLElement): Promise<void> {
  try {
    // Load the texts before the page's modules, which use them on import.
    const app = patiently(() => loadFirstTexts()).then(() => patiently(() => import('./app.tsx')));
    (await app).show(root);
  } catch {
    root.replaceChildren(notLoaded(root));
  }
}

function notLoaded(root: HTMLElement): HTMLElement {
  const words = NOT_LOADED[language];
  const card = document.createElement('main');
  card.className = 'login not-loaded';
  const text = document.createElement('p');
  text.setAttribute('role', 'alert');
  text.textContent = words.text;
  const again = document.createElement('button');
  again.className = 'button primary';
  again.type = 'button';
  again.textContent = words.again;
  again.addEventListener('click', () => void start(root));
  card.append(text, again);
  return card;
}
