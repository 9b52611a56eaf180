/** The entry point: applies the theme and loads the texts, then the page. */
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

/** Shown without texts, because they may have failed to load. */
function notLoaded(root: HTMLElement): HTMLElement {
  const isGerman = language === 'de';
  const card = document.createElement('main');
  card.className = 'login not-loaded';
  const text = document.createElement('p');
  text.setAttribute('role', 'alert');
  text.textContent = isGerman
    ? 'Die Seite konnte nicht geladen werden: Das Gateway ist nicht erreichbar.'
    : 'The page could not be loaded: the gateway cannot be reached.';
  const again = document.createElement('button');
  again.className = 'button primary';
  again.type = 'button';
  again.textContent = isGerman ? 'Erneut versuchen' : 'Try again';
  again.addEventListener('click', () => void start(root));
  card.append(text, again);
  return card;
}
