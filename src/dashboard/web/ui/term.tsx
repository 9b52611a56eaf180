/** A small button that explains a technical term. Its code is not part of the first load. */
import type { ReactElement } from 'react';
import { CircleHelp } from './icons.tsx';
import { part } from './part.tsx';
import type { TermName } from './term-popover.tsx';

const icon = (
  <span className="term">
    <CircleHelp aria-hidden size={14} />
  </span>
);
const Popover = part(() => import('./term-popover.tsx'), icon, icon);

export function Term({ of }: { readonly of: TermName }): ReactElement {
  return <Popover of={of} />;
}
