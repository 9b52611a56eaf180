/**
 * What the build makes elements with (`jsxImportSource`): React's own functions, with a symbol in place of each character
 * that is not seen or that turns text around. So the name of a file, of a connection or of a job shows what it holds on
 * every screen, and no screen has to think of it.
 */
import { Fragment, jsx as reactJsx, jsxs as reactJsxs } from 'react/jsx-runtime';
import { visible } from '../../../base/visible.ts';

export { Fragment };

type Make = typeof reactJsx;

export const jsx: Make = (type, props, key) => reactJsx(type, shown(props), key);
export const jsxs: Make = (type, props, key) => reactJsxs(type, shown(props), key);

const TEXTS = ['title', 'aria-label', 'alt', 'placeholder'];
/** The lines of a file that is shown. */
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

/** The same array where nothing of it changes. */
function childrenOf(children: readonly unknown[]): readonly unknown[] {
  const made = children.map(textOf);
  return made.some((child, index) => child !== children[index]) ? made : children;
}

function textOf(value: unknown): unknown {
  return typeof value === 'string' ? visible(value, undefined, LAYOUT) : value;
}
