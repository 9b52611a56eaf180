/** "Try it" on each operation of a reference page: a form from the build's data, and the answer of this gateway. */
import type { Field, Form, FormBody, Forms } from '../form-types.ts';
import { exchange } from './answer.ts';
import { button, copyButton, make } from './dom.ts';
import { csrfToken, currentKey, keyField } from './key.ts';
import { bodyOf, curlOf, type Filled, headersOf, type Part, targetOf } from './request.ts';

const KEY_WORDS = {
  none: '',
  key: 'Yours. It is sent to this gateway alone, and is never part of an address.',
  session: 'With the scope admin. Left empty, the login at the dashboard in this browser counts.',
};

export async function setUpForms(path: string): Promise<void> {
  const forms = (await (await fetch(path)).json()) as Forms;
  for (const [id, form] of Object.entries(forms.operations)) {
    const route = document.getElementById(id)?.querySelector('.route');
    if (route === null || route === undefined) continue;
    let made: HTMLElement | undefined;
    const open = (): void => {
      made ??= new TryIt(id, form, forms.errors).element;
      const isOpen = !made.isConnected;
      if (isOpen) route.after(made);
      else made.remove();
      opener.setAttribute('aria-expanded', String(isOpen));
      if (isOpen) made.querySelector<HTMLElement>('input, select, textarea, button')?.focus();
    };
    const label = `Try it: ${form.method} ${form.path}`;
    const opener = button('Try it', open, { class: 'try', 'aria-expanded': 'false', 'aria-label': label });
    route.append(opener);
  }
}

interface Control {
  readonly field: Field;
  readonly row: HTMLElement;
  readonly value: () => string;
  readonly file: () => File | undefined;
}

class TryIt {
  readonly #form: Form;
  readonly #errors: Forms['errors'];
  readonly element: HTMLFormElement;
  readonly #fields: readonly Control[];
  readonly #answer = make('div', { class: 'answer' });
  readonly #curl = make('code');
  readonly #accept: Choice;
  readonly #bodies: BodyControl | undefined;

  constructor(id: string, form: Form, errors: Forms['errors']) {
    this.#form = form;
    this.#errors = errors;

    this.#fields = form.fields.map((field) => control(id, field));
    this.#bodies = form.bodies.length === 0 ? undefined : new BodyControl(id, form.bodies);
    this.#accept = new Choice(`${id}-accept`, 'Answer as', form.accepts);
    const isFirst = ({ field }: Control): boolean => field.in !== 'header' || field.isRequired;
    const others = this.#fields.filter((one) => !isFirst(one)).map(({ row }) => row);
    const send = make('button', { type: 'submit', class: 'send' }, `Send ${form.method}`);
    this.element = make(
      'form',
      { class: 'try-it', 'aria-label': `Try ${form.method} ${form.path}` },
      form.access === 'none' ? undefined : keyField(id, KEY_WORDS[form.access]),
      ...this.#fields.filter(isFirst).map(({ row }) => row),
      this.#bodies?.element,
      form.accepts.length > 1 && !form.fields.some(({ name }) => name === 'format') ? this.#accept.row : undefined,
      others.length === 0
        ? undefined
        : make('details', {}, make('summary', {}, 'Header fields that may be left out'), ...others),
      make('div', { class: 'line' }, send),
      this.#answer,
      make('p', { class: 'hint' }, 'The same at a terminal, with the key in the variable KEY:'),
      make(
        'div',
        { class: 'code' },
        make('pre', { tabindex: '0' }, this.#curl),
        copyButton(() => this.#curl.textContent),
      ),
    );
    const renew = (): void => {
      this.#curl.textContent = curlOf(this.#filled());
    };
    this.element.addEventListener('input', renew);
    this.element.addEventListener('change', renew);
    renew();
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#send(send);
    });
  }

  #filled(): Filled {
    const values = this.#fields
      .map((one) => ({ field: one.field, value: one.value() }))
      .filter(({ value }) => value !== '');
    return { form: this.#form, values, accept: this.#accept.value(), body: this.#bodies?.filled() };
  }

  async #send(submit: HTMLButtonElement): Promise<void> {
    const filled = this.#filled();
    const target = targetOf(filled);
    if (takesAway(filled) && !(await isSure(`${this.#form.method} ${target}`))) return submit.focus();
    submit.disabled = true;
    this.#answer.replaceChildren();
    try {
      const headers = new Headers(headersOf(filled));
      const key = currentKey();
      if (key !== '' && this.#form.access !== 'none') headers.set('Authorization', `Bearer ${key}`);
      const isSession = key === '' && this.#form.access === 'session';
      if (isSession && this.#form.method !== 'GET') headers.set('X-CSRF-Token', await csrfToken());
      const request: RequestInit = {
        method: this.#form.method,
        headers,
        redirect: 'manual',
        credentials: isSession ? 'same-origin' : 'omit',
        body: bodyOf(filled) ?? null,
      };
      await exchange(this.#answer, { target, request, errors: this.#errors });
    } finally {
      submit.disabled = false;
    }
  }
}

/** Also for a job that deletes, overwrites or empties its source. */
function takesAway({ form, body }: Filled): boolean {
  return form.isDestructive || /"type"\s*:\s*"(delete|sync|move)"/.test(body?.text ?? '');
}

function isSure(what: string): Promise<boolean> {
  const send = make('button', { value: 'yes', class: 'danger' }, 'Send it');
  const keep = make('button', { value: 'no', autofocus: true }, 'Do not send');
  const dialog = make(
    'dialog',
    { 'aria-labelledby': 'site-sure' },
    make('h2', { id: 'site-sure' }, 'This can take something away'),
    make('p', {}, make('code', {}, what)),
    make('p', {}, 'It goes to this gateway, with your key or your login, and acts on real files and settings.'),
    make('form', { method: 'dialog', class: 'line' }, keep, send),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}

/** A choice between several values; with one value, that one. */
class Choice {
  readonly row: HTMLElement;
  readonly #select: HTMLSelectElement;

  constructor(id: string, label: string, options: readonly string[]) {
    this.#select = make('select', { id }, ...options.map((option) => make('option', { value: option }, option)));
    this.row = make('div', { class: 'field' }, make('label', { for: id }, label), make('div', {}, this.#select));
  }

  value(): string {
    return this.#select.value;
  }

  whenChanged(listener: () => void): void {
    this.#select.addEventListener('change', listener);
  }
}

class BodyControl {
  readonly element = make('div');
  readonly #type: Choice;
  readonly #forms: ReadonlyMap<string, OneBody>;

  constructor(id: string, bodies: readonly FormBody[]) {
    this.#forms = new Map(bodies.map((body, index) => [body.type, new OneBody(`${id}-body-${index}`, body)]));
    this.#type = new Choice(`${id}-type`, 'Body', [...this.#forms.keys()]);
    const show = (): void =>
      this.element.replaceChildren(...(bodies.length > 1 ? [this.#type.row] : []), ...this.#rows());
    this.#type.whenChanged(show);
    show();
  }

  filled(): Filled['body'] {
    return this.#forms.get(this.#type.value())?.filled();
  }

  #rows(): readonly HTMLElement[] {
    return this.#forms.get(this.#type.value())?.rows ?? [];
  }
}

class OneBody {
  readonly #of: FormBody;
  readonly rows: readonly HTMLElement[];
  readonly #controls: readonly Control[];
  readonly #text: HTMLTextAreaElement;

  constructor(id: string, of: FormBody) {
    this.#of = of;

    const whole: Field = {
      name: of.type,
      in: 'body',
      isRequired: false,
      hint: 'The file is the body.',
      example: '',
      initial: '',
      choices: [],
      isFile: true,
    };
    this.#controls = (of.kind === 'file' ? [whole] : of.fields).map((field) => control(id, field));
    const [first] = of.texts;
    this.#text = make('textarea', { id: `${id}-text`, rows: '8', spellcheck: 'false' });
    this.#text.value = first?.text ?? '{}';
    const example = new Choice(
      `${id}-example`,
      'Example',
      of.texts.map(({ title }) => title),
    );
    example.whenChanged(() => {
      this.#text.value = of.texts.find(({ title }) => title === example.value())?.text ?? '';
    });
    const text = make(
      'div',
      { class: 'field' },
      make('label', { for: this.#text.id }, 'JSON'),
      make('div', {}, this.#text),
    );
    this.rows =
      of.kind !== 'text' ? this.#controls.map(({ row }) => row) : [...(of.texts.length > 1 ? [example.row] : []), text];
  }

  filled(): Filled['body'] {
    const parts = this.#controls.flatMap(({ field, value, file }): Part[] => {
      const given = field.isFile ? file() : value();
      return given === undefined || given === '' ? [] : [{ name: field.name, value: given }];
    });
    return { of: this.#of, text: this.#of.kind === 'text' ? this.#text.value : '', parts };
  }
}

/** Suggests the caller's own connections if the key is known. */
async function suggestConnections(input: Element): Promise<void> {
  if (currentKey() === '') return;
  const answer = await fetch('/api/connections', {
    headers: { Authorization: `Bearer ${currentKey()}` },
    credentials: 'omit',
  });
  if (!answer.ok) return;
  const { connections } = (await answer.json()) as { connections: readonly { id: string; name: string }[] };
  const list = make(
    'datalist',
    { id: `${input.id}-known` },
    ...connections.map(({ id, name }) => make('option', { value: id }, name)),
  );
  input.after(list);
  input.setAttribute('list', list.id);
}

function control(form: string, field: Field): Control {
  const { name, isRequired, hint, example, initial, choices, isFile } = field;
  const id = `${form}-${field.in}-${name}`;
  const described = { id, name, required: isRequired, 'aria-describedby': `${id}-hint` };
  const empty = make('option', { value: '' }, initial === '' ? '' : `${initial} (default)`);
  const input =
    choices.length > 0
      ? make(
          'select',
          described,
          ...(isRequired ? [] : [empty]),
          ...choices.map((one) => make('option', { value: one }, one)),
        )
      : make('input', {
          ...described,
          type: isFile ? 'file' : 'text',
          spellcheck: 'false',
          autocomplete: 'off',
          placeholder: isFile ? undefined : initial || example,
        });
  if (isRequired && !isFile && choices.length === 0) input.value = example;
  if (name === 'connectionId') input.addEventListener('focus', () => void suggestConnections(input), { once: true });
  const label = make(
    'label',
    { for: id },
    name,
    isRequired ? make('span', { class: 'required' }, ' required') : undefined,
  );
  const words = make('p', { class: 'hint', id: `${id}-hint` }, hint.replaceAll('`', ''));
  return {
    field,
    row: make('div', { class: 'field' }, label, make('div', {}, input, words)),
    value: () => input.value,
    file: () => (input instanceof HTMLInputElement ? input.files?.[0] : undefined),
  };
}
