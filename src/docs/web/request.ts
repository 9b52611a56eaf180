/** Converts a filled form to a request of this page, and to a command for a terminal. */
import type { Field, Form, FormBody } from '../form-types.ts';

export interface Filled {
  readonly form: Form;
  /** Fields of path, query and header, without empty ones. */
  readonly values: readonly { readonly field: Field; readonly value: string }[];
  /** A media type; the form's first one if there is no choice. */
  readonly accept: string;
  readonly body?: { readonly of: FormBody; readonly text: string; readonly parts: readonly Part[] } | undefined;
}

/** A field of a form with parts, or the single file that is the body. */
export interface Part {
  readonly name: string;
  readonly value: string | File;
}

export function targetOf({ form, values }: Filled): string {
  const query = new URLSearchParams();
  let path = form.path;
  for (const { field, value } of values) {
    if (field.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    if (field.in === 'query') query.append(field.name, value);
  }
  return query.size === 0 ? path : `${path}?${String(query)}`;
}

/** All header fields but the caller's credentials. */
export function headersOf({ form, values, accept, body }: Filled): [name: string, value: string][] {
  const headers = values
    .filter(({ field }) => field.in === 'header')
    .map(({ field, value }): [string, string] => [field.name, value]);
  if (accept !== form.accepts[0]) headers.push(['Accept', accept]);
  // The browser adds the boundary of the parts.
  if (body !== undefined && body.of.kind !== 'parts') headers.push(['Content-Type', body.of.type]);
  return headers;
}

export function bodyOf({ body }: Filled): BodyInit | undefined {
  if (body === undefined) return undefined;
  if (body.of.kind === 'text') return body.text;
  if (body.of.kind === 'file') return body.parts[0]?.value;
  const parts = new FormData();
  for (const { name, value } of body.parts) parts.append(name, value);
  return parts;
}

/** The key is `$KEY`, because commands are copied to places that others read. */
export function curlOf(filled: Filled): string {
  const { form, body, accept } = filled;
  const words = ['curl'];
  if (form.method === 'HEAD') words.push('--head');
  else if (form.method !== (body === undefined ? 'GET' : 'POST')) words.push(`-X ${form.method}`);
  if (accept === 'text/event-stream') words.push('-N');
  const lines = [`${words.join(' ')} ${quoted(location.origin + targetOf(filled))}`];
  if (form.access !== 'none') lines.push('-H "Authorization: Bearer $KEY"');
  for (const [name, value] of headersOf(filled)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body?.of.kind === 'text') lines.push(`-d ${quoted(body.text)}`);
  for (const { name, value } of body?.parts ?? []) lines.push(partOf(name, value, body?.of.kind === 'file'));
  if (accept === 'application/octet-stream') lines.push('-OJ');
  return lines.join(' \\\n  ');
}

function partOf(name: string, value: string | File, isWhole: boolean): string {
  if (typeof value === 'string') return `-F ${quoted(`${name}=${value}`)}`;
  return isWhole ? `--data-binary ${quoted(`@${value.name}`)}` : `-F ${quoted(`${name}=@${value.name}`)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
