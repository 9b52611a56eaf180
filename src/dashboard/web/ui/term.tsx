/** A small button beside a hard word: what the word means. Its code is not part of the first load. */
import type { ReactElement } from 'react';
import type { t } from '../texts/texts.ts';
import { CircleHelp } from './icons.tsx';
import { part } from './part.tsx';

export type TermName = Exclude<keyof typeof t.terms, 'whatIs'>;

const Popover = part(
  () => import('./term-popover.tsx'),
  <span className="term">
    <CircleHelp aria-hidden size={14} />
  </span>,
);

export function Term({ of }: { readonly of: TermName }): ReactElement {
  return <Popover of={of} />;
}
