/** The OpenAPI document as the content of a page. Every text is escaped; src/docs adds the rest of the page. */
import { escapeHtml as escape } from '../../base/html.js';
import { componentNameIn, parametersOf, responsesOf } from './document.js';
import type { MediaType, OpenApiDocument, OperationObject, Parameter, PathItem, Response, Schema } from './types.js';

interface ReferenceContent {
  readonly title: string;
  readonly html: string;
  readonly groups: readonly LinkGroup[];
}

export interface LinkGroup {
  readonly title: string;
  readonly links: readonly { readonly href: string; readonly text: string }[];
}

/** `documentPath`: the address of the document itself. */
export function referencePage(document: OpenApiDocument, documentPath: string): ReferenceContent {
  return new Page(document, documentPath).whole();
}

interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

class Page {
  readonly #document: OpenApiDocument;
  readonly #documentPath: string;

  constructor(document: OpenApiDocument, documentPath: string) {
    this.#document = document;
    this.#documentPath = documentPath;
  }

  whole(): ReferenceContent {
    const { info, tags, webhooks, components } = this.#document;
    const title = `${info.title} API`;
    const groups = tags
      .map((tag) => ({ tag, listed: this.#operations().filter((one) => one.operation.tags[0] === tag.name) }))
      .filter(({ listed }) => listed.length > 0);
    const events = Object.entries(webhooks).flatMap(([path, item]) => listedIn(path, item));
    const schemas = Object.entries(components.schemas);
    const html = `<h1>${escape(title)}</h1>
<p class="faint">Version ${escape(info.version)}, OpenAPI ${escape(this.#document.openapi)}: <a href="${escape(this.#documentPath)}">${escape(this.#documentPath)}</a></p>
${prose(info.description)}
${groups
  .map(
    ({ tag, listed }) =>
      `<section>${heading(tagId(tag.name), tag.name)}${prose(tag.description)}${listed.map((one) => this.#article(one)).join('')}</section>`,
  )
  .join('\n')}
${events.length === 0 ? '' : `<section>${heading('sent-events', 'What the gateway sends')}${events.map((one) => this.#article(one)).join('')}</section>`}
${this.#errorTable()}
<section>${heading('schemas', 'Schemas')}
${schemas.map(([name, schema]) => `<article id="schema-${escape(name)}"><h3>${escape(name)}</h3>${this.#schemaBody(schema)}</article>`).join('\n')}
</section>`;
    const more = [
      { href: '#errors', text: 'Errors' },
      { href: '#schemas', text: 'Schemas' },
    ];
    return {
      title,
      html,
      groups: [
        ...groups.map(({ tag, listed }) => ({ title: tag.name, links: listed.map(linkOf) })),
        ...(events.length === 0 ? [] : [{ title: 'What the gateway sends', links: events.map(linkOf) }]),
        { title: 'Errors and schemas', links: more },
      ],
    };
  }

  #operations(): Listed[] {
    return Object.entries(this.#document.paths).flatMap(([path, item]) => listedIn(path, item));
  }

  #article({ method, path, operation }: Listed): string {
    const { operationId, summary, description, requestBody, security } = operation;
    const parameters = parametersOf(this.#document, operation);
    const access = accessWords(security);
    return `<article id="${escape(operationId)}"><h3>${escape(summary)}${permalink(operationId)}</h3>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> ${escape(path)}</p>
${access === '' ? '' : `<p class="faint">${escape(access)}</p>`}
${prose(description)}
${parameters.length === 0 ? '' : `<h4>Parameters</h4>${this.#parameters(parameters)}`}
${requestBody === undefined ? '' : `<h4>Body</h4>${this.#content(requestBody.content)}`}
<h4>Answers</h4>
${responsesOf(this.#document, operation)
  .map(([status, response]) => this.#response(status, response))
  .join('')}
</article>`;
  }

  #parameters(parameters: readonly Parameter[]): string {
    const rows = parameters.map(({ name, in: place, required, schema, description }) => [
      `<code>${escape(name)}</code>`,
      `${place}${required === true ? ', required' : ''}`,
      `${this.#typeOf(schema)}${inline(description, ' ')}`,
    ]);
    return table(['Name', 'In', 'What'], rows);
  }

  #response(status: string, { description, headers = {}, content }: Response): string {
    const [first = ''] = description.split('\n');
    const names = Object.keys(headers).map((name) => `<code>${escape(name)}</code>`);
    return `<details${status.startsWith('2') ? ' open' : ''}><summary><strong>${escape(status)}</strong> ${
      /^[45]\d\d$/.test(status) ? errorNames(description) : inline(first)
    }</summary>
${/^[45]\d\d$/.test(status) ? prose(description) : ''}
${names.length === 0 ? '' : `<p>Header fields: ${names.join(', ')}</p>`}
${content === undefined ? '' : this.#content(content)}</details>`;
  }

  #content(content: Readonly<Record<string, MediaType>>): string {
    return Object.entries(content)
      .map(([type, { schema, examples = {} }]) => {
        const shownExamples = Object.values(examples)
          .slice(0, 2)
          .map((example) => {
            const { summary, value } = example;
            const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
            const title = summary === undefined ? '' : `<p class="faint">${inline(summary)}</p>`;
            return `${title}<pre tabindex="0"><code>${escape(text)}</code></pre>`;
          });
        return `<p><code>${escape(type)}</code>${schema === undefined ? '' : ` ${this.#typeOf(schema)}`}</p>${shownExamples.join('')}`;
      })
      .join('');
  }

  #errorTable(): string {
    const codes = (this.#document.components.schemas['ErrorCode']?.['oneOf'] ?? []) as readonly Schema[];
    const rows = codes.map(({ const: code, title, description }) => [
      `<code>${escape(textOf(code))}</code>`,
      escape(textOf(title).split(' ')[0] ?? ''),
      inline(textOf(description)),
    ]);
    return `<section>${heading('errors', 'Errors')}<p>Every code that <code>X-Error-Code</code> can carry.</p>${table(
      ['Code', 'Status', 'What it means'],
      rows,
    )}</section>`;
  }

  #schemaBody(schema: Schema): string {
    const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
    const required = (schema['required'] ?? []) as readonly string[];
    if (Object.keys(properties).length === 0 || 'allOf' in schema) return `<p>${this.#typeOf(schema)}</p>`;
    const rows = Object.entries(properties).map(([name, field]) => [
      `<code>${escape(name)}</code>${required.includes(name) ? '' : ' <span class="faint">optional</span>'}`,
      `${this.#typeOf(field)}${inline(textOf(field['description']), ' ')}${this.#nested(field)}`,
    ]);
    return table(['Field', 'What'], rows);
  }

  #nested(schema: Schema): string {
    const items = schema['items'] as Schema | undefined;
    const inner = items?.['properties'] === undefined ? schema : items;
    return inner['properties'] === undefined ? '' : this.#schemaBody(inner);
  }

  /** A type in a few words, with the limits for callers. */
  #typeOf(schema: Schema): string {
    const { $ref, oneOf, items, type, enum: values, const: only } = schema;
    if (typeof $ref === 'string')
      return `<a href="#schema-${escape(componentNameIn($ref))}">${escape(componentNameIn($ref))}</a>`;
    // A schema that depends on the type: `if` selects the type, `then` is its schema.
    const forms = ((schema['allOf'] ?? []) as readonly Schema[]).flatMap(({ then }) =>
      then === undefined ? [] : [then],
    );
    if (forms.length > 0) return forms.map((one) => this.#typeOf(one as Schema)).join(' or ');
    if (Array.isArray(oneOf)) return (oneOf as Schema[]).map((one) => this.#typeOf(one)).join(' or ');
    if (items !== undefined) return `list of ${this.#typeOf(items as Schema)}`;
    if (only !== undefined) return `<code>${escape(JSON.stringify(only))}</code>`;
    if (Array.isArray(values)) return values.map((value) => `<code>${escape(String(value))}</code>`).join(' ');
    const words = (Array.isArray(type) ? type : [type]).map(textOf).join(' or ');
    const limits = LIMITS.filter(([keyword]) => schema[keyword] !== undefined).map(
      ([keyword, word]) => `${word} ${textOf(schema[keyword])}`,
    );
    return `<span class="faint">${escape([words, ...limits].join(', '))}</span>`;
  }
}

/** The credentials that an operation needs. */
function accessWords(security: OperationObject['security']): string {
  if (security.length === 0) return '';
  if (security.some((one) => 'session' in one)) return 'Login session, or API key with scope admin';
  const scopes = security.flatMap((one) => Object.values(one).flat());
  return `API key${scopes.length > 0 ? ` with scope ${scopes.join(', ')}` : ''}`;
}

const LIMITS = [
  ['format', ''],
  ['minimum', 'from'],
  ['maximum', 'to'],
  ['maxLength', 'length to'],
  ['default', 'default'],
] as const;

function listedIn(path: string, item: PathItem): Listed[] {
  return (
    Object.entries(item)
      // GET already covers it.
      .filter(([method]) => method !== 'head' || item['get'] === undefined)
      .map(([method, operation]) => ({ method, path, operation }))
  );
}

function linkOf({ operation }: Listed): LinkGroup['links'][number] {
  return { href: `#${operation.operationId}`, text: operation.summary };
}

/** The id of a tag's section. */
function tagId(name: string): string {
  return `tag-${name.toLowerCase().replaceAll(' ', '-')}`;
}

function heading(id: string, text: string): string {
  return `<h2 id="${escape(id)}">${escape(text)}${permalink(id)}</h2>`;
}

/** For the mouse: the table of contents has the same links. */
function permalink(id: string): string {
  return ` <a class="permalink" href="#${escape(id)}" aria-hidden="true" tabindex="-1">#</a>`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('');
  return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** The codes that an error's description explains, one per paragraph. */
function errorNames(description: string): string {
  return [...description.matchAll(/^`(\w+)`:/gm)].map(([, code = '']) => `<code>${code}</code>`).join(' ');
}

/** Paragraphs with `code`: the document uses no other Markdown. */
function prose(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('');
}

function inline(text: string, before = ''): string {
  return text === '' ? '' : before + escape(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}
