/** A name that is cut in the middle where it does not fit, so that its end stays visible. */
import type { ReactElement } from 'react';

/** The number of characters at the end that are never cut. */
const TAIL = 10;
/** A name of this length is hardly ever cut. */
const SHORT = 20;

/**
 * The browser draws the end beside the shrinking start. For screen readers, search and copying, the text contains the
 * whole name, its end with a font size of 0.
 */
export function MiddleName({ name }: { readonly name: string }): ReactElement {
  if (name.length <= SHORT) return <>{name}</>;
  const characters = [...name];
  const cut = characters.length - TAIL;
  const tail = characters.slice(cut).join('');
  return (
    <span className="middle-name" title={name}>
      <span>
        {characters.slice(0, cut).join('')}
        <span>{tail}</span>
      </span>
      <span aria-hidden data-tail={tail} />
    </span>
  );
}
