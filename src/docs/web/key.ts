/** The caller's own key: in this page's memory, and in the tab's storage only on request. Never in an address. */
import { make } from './dom.ts';

const STORED = 'ftg.docs.key';
let key = stored();
let isKept = key !== '';
const fields = new Set<() => void>();

export function currentKey(): string {
  return key;
}

function stored(): string {
  try {
    return sessionStorage.getItem(STORED) ?? '';
  } catch {
    // Storage may be disabled; then only memory is used.
    return '';
  }
}

function store(): void {
  try {
    if (isKept && key !== '') sessionStorage.setItem(STORED, key);
    else sessionStorage.removeItem(STORED);
  } catch {
    // As above.
  }
}

/** One of the fields for the key, which all have the same value. `id` is that of the form. */
export function keyField(id: string, words: string): HTMLElement {
  const input = make('input', {
    type: 'password',
    id: `${id}-key`,
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'ftg_…',
    'aria-describedby': `${id}-key-hint`,
  });
  const keep = make('input', { type: 'checkbox' });
  const fill = (): void => {
    if (input.value !== key) input.value = key;
    keep.checked = isKept;
  };
  fill();
  fields.add(fill);
  const change = (): void => {
    key = input.value.trim();
    isKept = keep.checked;
    store();
    for (const other of fields) other();
  };
  input.addEventListener('change', change);
  keep.addEventListener('change', change);
  return make(
    'div',
    { class: 'field' },
    make('label', { for: `${id}-key` }, 'API key'),
    make(
      'div',
      {},
      input,
      make('p', { class: 'hint', id: `${id}-key-hint` }, words),
      make('label', { class: 'keep' }, keep, ' Keep it in this tab until the tab is closed'),
    ),
  );
}

/** The token of a dashboard login in this browser; empty without one. */
export async function csrfToken(): Promise<string> {
  const answer = await fetch('/manage/session', { credentials: 'same-origin' });
  if (!answer.ok) return '';
  const { csrfToken: token = '' } = (await answer.json()) as { csrfToken?: string };
  return token;
}
