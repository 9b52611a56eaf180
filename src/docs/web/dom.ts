/** Elements are made here, never from text that is HTML: what a server answers stays text. */
type Content = Node | string | undefined;
type Fields = Readonly<Record<string, string | boolean | undefined>>;

/** `true` sets a bare attribute; `false` and undefined leave it out. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  fields: Fields = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined && value !== false) element.setAttribute(field, value === true ? '' : value);
  }
  element.append(...content.filter((one) => one !== undefined));
  return element;
}

export function button(text: string, onClick: () => void, fields: Fields = {}): HTMLButtonElement {
  const made = make('button', { type: 'button', ...fields }, text);
  made.addEventListener('click', onClick);
  return made;
}

/** Copies what `text` gives at that moment, and says so on the button. */
export function copyButton(text: () => string): HTMLButtonElement {
  const made = button('Copy', () => void copy(), { class: 'copy', 'aria-live': 'polite' });
  const copy = async (): Promise<void> => {
    const isCopied = await navigator.clipboard.writeText(text()).then(
      () => true,
      () => false,
    );
    made.textContent = isCopied ? 'Copied' : 'Not copied: select the text';
    setTimeout(() => (made.textContent = 'Copy'), 2_000);
  };
  return made;
}
