/**
 * Creates elements for the build (`jsxImportSource`). It replaces invisible characters, and those that change the direction
 * of
 * text, with symbols. So every screen shows the true name of a file, a connection or a job.
 */
import { Fragment, jsx as reactJsx, jsxs as reactJsxs } from 'react/jsx-runtime';
import { visible } from '../../../base/visible.ts';

export { Fragment };

type Make = typeof reactJsx;

export const jsx: Make = (type, props, key) => reactJsx(type, shown(props), key);
export const jsxs: Make = (type, props, key) => reactJsxs(type, shown(props), key);

const TEXTS = ['title', 'aria-label', 'alt', 'placeholder'];
/** Characters that lay out the text of a file. */
const LAYOUT = '\t\n\r';

function shown(props: unknown): unknown {
  const given = props as Record<string, unknown>;
  let made = given;
  const put = (name: string, value: unknown): void => {
    if (value === given[name]) return;
    made = { ...made, [name]: value };
  };
  for (const name of TEXTS) put(name, textOf(given[name]));
  const { children } = given;
  put('children', Array.isArray(children) ? childrenOf(children) : textOf(children));
  return made;
}

/** Returns the same array if nothing changes. */
function childrenOf(children: readonly unknown[]): readonly unknown[] {
  const made = children.map(textOf);
  return made.some((child, index) => child !== children[index]) ? made : children;
}

function textOf(value: unknown): unknown {
  return typeof value === 'string' ? visible(value, undefined, LAYOUT) : value;
}
