/**
 * XML as S3 writes it. A character that XML 1.0 does not have is written as a reference (`&#x1;`), as Amazon S3 does: a
 * client's parser refuses it then, and never reads another key. `encoding-type=url` avoids it.
 */
import { escapeHtml } from '../base/html.js';

/** Text, or elements in order; an element without content is left out. */
export type XmlContent = string | number | boolean | Iterable<XmlElement>;
export type XmlElement = readonly [name: string, content: XmlContent | undefined];

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** A whole document. `root` has the namespace of S3. */
export function xml(root: string, content: XmlContent): string {
  if (isText(content)) return documentOf(root, [textOf(String(content))]);
  return documentOf(
    root,
    Array.from(content, ([name, inner]) => element(name, inner)),
  );
}

/** The same of elements that are written already. */
export function documentOf(root: string, elements: readonly string[]): string {
  return `${DECLARATION}<${root} xmlns="${NAMESPACE}">${elements.join('')}</${root}>`;
}

/** Without the namespace: S3 gives errors none. */
export const plainXml = (root: string, content: XmlContent): string => DECLARATION + element(root, content);

/** One element; "" without content. */
export function element(name: string, content: XmlContent | undefined): string {
  if (content === undefined) return '';
  if (isText(content)) return `<${name}>${textOf(String(content))}</${name}>`;
  let inside = '';
  for (const [childName, inner] of content) inside += element(childName, inner);
  return `<${name}>${inside}</${name}>`;
}

const isText = (content: XmlContent): content is string | number | boolean => typeof content !== 'object';

/** Also line ends: a parser would change a CR to LF. */
// eslint-disable-next-line no-control-regex
const REFERENCED = /[\0-\x1f\x7f-\x9f\ufffe\uffff]/g;

function textOf(text: string): string {
  return escapeHtml(text).replace(REFERENCED, (character) => `&#x${character.charCodeAt(0).toString(16)};`);
}
