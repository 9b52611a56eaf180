/** What comes first: the looks, the words, then the page itself. */
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
import { loadTexts } from './texts/texts.ts';
import { patiently } from './ui/patiently.ts';

applyTheme();
const root = document.getElementById('app');
if (root === null) throw new Error('the page has no #app');
await start(root);

async function start(root: HTMLElement): Promise<void> {
  try {
    // The words are there before any module of the page is run: these may use them at once.
    const app = patiently(() => loadTexts(language)).then(() => patiently(() => import('./app.tsx')));
    (await app).show(root);
  } catch {
    root.replaceChildren(notLoaded(root));
  }
}

/** There are no words yet to say it with. */
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
