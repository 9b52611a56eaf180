/** Creates elements, never from HTML text: a server's answer stays text. */
type Content = Node | string | undefined;
type Fields = Readonly<Record<string, string | boolean | undefined>>;

/** `true` sets a bare attribute; `false` and undefined omit it. */
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

/** Copies the current result of `text`, and confirms it on the button. */
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
