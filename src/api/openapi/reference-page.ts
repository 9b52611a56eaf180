/**
 * The OpenAPI document as one HTML page: no script, and nothing loaded from anywhere. Its policy forbids both, so that a
 * description could not change that by accident.
 */
import { createHash } from 'node:crypto';
import { nameIn, parametersOf, responsesOf } from './document.js';
import type { MediaType, OpenApiDocument, Operation, Parameter, PathItem, Response, Schema } from './types.js';

/** The style of the reference page: narrow screens first, light and dark by the reader's own setting. */
const REFERENCE_STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --faint: #57606a; --page: #fff; --raised: #f4f6f8; --line: #d0d7de; --link: #0757b8;
  --get: #0757b8; --post: #176635; --delete: #a40e26; --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --faint: #9aa4af; --page: #0d1117; --raised: #161b22; --line: #3d444d;
  --link: #79b8ff; --get: #79b8ff; --post: #5fd38a; --delete: #ff8b94; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--page); padding: .5rem 1rem; z-index: 1; }
nav, main { padding: 1rem; }
main { max-width: 60rem; min-width: 0; }
nav { border-bottom: 1px solid var(--line); }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav li a { display: block; padding: .3rem 0; text-decoration: none; }
nav li a:hover { text-decoration: underline; }
nav h2 { font-size: .85rem; margin: 0; color: var(--faint); }
h1 { line-height: 1.2; margin: 0 0 .5rem; }
h2 { margin: 2.5rem 0 .5rem; }
h3 { margin: 2rem 0 .25rem; }
h4 { margin: 1.25rem 0 .25rem; }
article { border-top: 1px solid var(--line); }
code, pre { font-family: var(--mono); font-size: .875em; }
code { background: var(--raised); border-radius: .25rem; padding: .1em .3em; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; overflow-x: auto; overflow-wrap: normal; }
pre code { background: none; padding: 0; }
.route { font-family: var(--mono); margin: .25rem 0; }
.method { font-weight: 700; }
.get, .head { color: var(--get); }
.post { color: var(--post); }
.delete { color: var(--delete); }
.faint { color: var(--faint); }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
td:first-child { white-space: nowrap; }
th, td { overflow-wrap: break-word; }
td p { margin: 0; }
summary { cursor: pointer; padding: .35rem 0; }
details > :not(summary) { margin-left: 1rem; }
@media (min-width: 64rem) {
  .columns { display: grid; grid-template-columns: 18rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); }
  main { padding: 2rem 3rem; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`;

interface ReferencePage {
  readonly html: string;
  /** Its Content-Security-Policy. */
  readonly policy: string;
}

export interface PageLinks {
  /** Path of the document itself. */
  readonly document: string;
  readonly page: string;
}

/** `other`: the API that this one stands beside. */
export function referencePage(
  document: OpenApiDocument,
  own: PageLinks,
  other: PageLinks & { readonly title: string },
): ReferencePage {
  const styleHash = createHash('sha256').update(REFERENCE_STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return { html: new Page(document, own, other).html(), policy };
}

interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

class Page {
  constructor(
    private readonly document: OpenApiDocument,
    private readonly own: PageLinks,
    private readonly other: PageLinks & { readonly title: string },
  ) {}

  html(): string {
    const { info, servers, tags, webhooks, components } = this.document;
    const groups = tags.map((tag) => ({
      tag,
      listed: this.operations().filter((one) => one.operation.tags[0] === tag.name),
    }));
    const events = Object.entries(webhooks).flatMap(([path, item]) => listedIn(path, item));
    const navigation = groups
      .filter(({ listed }) => listed.length > 0)
      .map(({ tag, listed }) => navigationGroup(tag.name, listed));
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(info.title)} API ${escape(info.version)}</title>
<style>${REFERENCE_STYLE}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="columns">
<nav aria-label="Contents">
${navigation.join('\n')}
${events.length === 0 ? '' : navigationGroup('Events', events)}
<h2>More</h2>
<ul><li><a href="#errors">Errors</a></li><li><a href="#schemas">Schemas</a></li><li><a href="${escape(this.own.document)}">openapi.json</a></li><li><a href="${escape(this.other.page)}">${escape(this.other.title)}</a></li></ul>
</nav>
<main id="content">
<h1>${escape(info.title)}</h1>
<p class="faint">Version ${escape(info.version)}, OpenAPI ${escape(this.document.openapi)}, at <code>${escape(servers[0]?.url ?? '/')}</code></p>
${prose(info.description)}
${groups
  .filter(({ listed }) => listed.length > 0)
  .map(
    ({ tag, listed }) =>
      `<section><h2>${escape(tag.name)}</h2>${prose(tag.description)}${listed.map((one) => this.article(one)).join('')}</section>`,
  )
  .join('\n')}
${events.length === 0 ? '' : `<section><h2>Events</h2>${events.map((one) => this.article(one)).join('')}</section>`}
${this.errorTable()}
<section id="schemas"><h2>Schemas</h2>
${Object.entries(components.schemas)
  .map(
    ([name, schema]) =>
      `<article id="schema-${escape(name)}"><h3>${escape(name)}</h3>${this.schemaBody(schema)}</article>`,
  )
  .join('\n')}
</section>
</main>
</div>
</body>
</html>
`;
  }

  private operations(): Listed[] {
    return Object.entries(this.document.paths).flatMap(([path, item]) => listedIn(path, item));
  }

  private article({ method, path, operation }: Listed): string {
    const { operationId, summary, description, requestBody, security } = operation;
    const parameters = parametersOf(this.document, operation);
    const access = accessWords(security);
    return `<article id="${escape(operationId)}"><h3>${escape(summary)}</h3>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> ${escape(path)}</p>
${access === '' ? '' : `<p class="faint">${escape(access)}</p>`}
${prose(description)}
${parameters.length === 0 ? '' : `<h4>Parameters</h4>${this.parameters(parameters)}`}
${requestBody === undefined ? '' : `<h4>Body</h4>${this.content(requestBody.content)}`}
<h4>Answers</h4>
${responsesOf(this.document, operation)
  .map(([status, response]) => this.response(status, response))
  .join('')}
</article>`;
  }

  private parameters(parameters: readonly Parameter[]): string {
    const rows = parameters.map(({ name, in: place, required, schema, description }) => [
      `<code>${escape(name)}</code>`,
      `${place}${required === true ? ', required' : ''}`,
      `${this.typeOf(schema)}${inline(description, ' ')}`,
    ]);
    return table(['Name', 'In', 'What'], rows);
  }

  private response(status: string, { description, headers = {}, content }: Response): string {
    const [first = ''] = description.split('\n');
    const names = Object.keys(headers).map((name) => `<code>${escape(name)}</code>`);
    return `<details${status.startsWith('2') ? ' open' : ''}><summary><strong>${escape(status)}</strong> ${
      /^[45]\d\d$/.test(status) ? errorNames(description) : inline(first)
    }</summary>
${/^[45]\d\d$/.test(status) ? prose(description) : ''}
${names.length === 0 ? '' : `<p>Header fields: ${names.join(', ')}</p>`}
${content === undefined ? '' : this.content(content)}</details>`;
  }

  private content(content: Readonly<Record<string, MediaType>>): string {
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
        return `<p><code>${escape(type)}</code>${schema === undefined ? '' : ` ${this.typeOf(schema)}`}</p>${shownExamples.join('')}`;
      })
      .join('');
  }

  private errorTable(): string {
    const codes = (this.document.components.schemas['ErrorCode']?.['oneOf'] ?? []) as readonly Schema[];
    const rows = codes.map(({ const: code, title, description }) => [
      `<code>${escape(textOf(code))}</code>`,
      escape(textOf(title).split(' ')[0] ?? ''),
      inline(textOf(description)),
    ]);
    return `<section id="errors"><h2>Errors</h2><p>Every code that <code>X-Error-Code</code> can carry.</p>${table(
      ['Code', 'Status', 'What it means'],
      rows,
    )}</section>`;
  }

  private schemaBody(schema: Schema): string {
    const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
    const required = (schema['required'] ?? []) as readonly string[];
    if (Object.keys(properties).length === 0 || 'allOf' in schema) return `<p>${this.typeOf(schema)}</p>`;
    const rows = Object.entries(properties).map(([name, field]) => [
      `<code>${escape(name)}</code>${required.includes(name) ? '' : ' <span class="faint">optional</span>'}`,
      `${this.typeOf(field)}${inline(textOf(field['description']), ' ')}${this.nested(field)}`,
    ]);
    return table(['Field', 'What'], rows);
  }

  private nested(schema: Schema): string {
    const items = schema['items'] as Schema | undefined;
    const inner = items?.['properties'] === undefined ? schema : items;
    return inner['properties'] === undefined ? '' : this.schemaBody(inner);
  }

  /** A type in a few words, with the limits that a caller must keep. */
  private typeOf(schema: Schema): string {
    const { $ref, oneOf, items, type, enum: values, const: only } = schema;
    if (typeof $ref === 'string') return `<a href="#schema-${escape(nameIn($ref))}">${escape(nameIn($ref))}</a>`;
    // The form of a schema for each type: `if` says which type, `then` its schema.
    const forms = ((schema['allOf'] ?? []) as readonly Schema[]).flatMap(({ then }) =>
      then === undefined ? [] : [then],
    );
    if (forms.length > 0) return forms.map((one) => this.typeOf(one as Schema)).join(' or ');
    if (Array.isArray(oneOf)) return (oneOf as Schema[]).map((one) => this.typeOf(one)).join(' or ');
    if (items !== undefined) return `list of ${this.typeOf(items as Schema)}`;
    if (only !== undefined) return `<code>${escape(JSON.stringify(only))}</code>`;
    if (Array.isArray(values)) return values.map((value) => `<code>${escape(String(value))}</code>`).join(' ');
    const words = (Array.isArray(type) ? type : [type]).map(textOf).join(' or ');
    const limits = LIMITS.filter(([keyword]) => schema[keyword] !== undefined).map(
      ([keyword, word]) => `${word} ${textOf(schema[keyword])}`,
    );
    return `<span class="faint">${escape([words, ...limits].join(', '))}</span>`;
  }
}

/** Which credentials an operation asks for. */
function accessWords(security: Operation['security']): string {
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
      // What GET shows as well.
      .filter(([method]) => method !== 'head' || item['get'] === undefined)
      .map(([method, operation]) => ({ method, path, operation }))
  );
}

function navigationGroup(title: string, listed: readonly Listed[]): string {
  const links = listed.map(
    ({ operation }) => `<li><a href="#${escape(operation.operationId)}">${escape(operation.summary)}</a></li>`,
  );
  return `<h2>${escape(title)}</h2><ul>${links.join('')}</ul>`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('');
  return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** The codes that an error's description explains, one a paragraph. */
function errorNames(description: string): string {
  return [...description.matchAll(/^`(\w+)`:/gm)].map(([, code = '']) => `<code>${code}</code>`).join(' ');
}

/** Paragraphs with `code` in them: all of Markdown that the document uses. */
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

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
