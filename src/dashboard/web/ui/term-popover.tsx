/** A small button beside a technical term, and its explanation. */
import * as Ariakit from '@ariakit/react';
import type { ReactElement } from 'react';
import { t } from '../texts/texts.ts';
import { CircleHelp } from './icons.tsx';

export type TermName = Exclude<keyof typeof t.terms, 'whatIs'>;

export default function TermPopover({ of }: { readonly of: TermName }): ReactElement {
  const { word, text } = t.terms[of];
  return (
    <Ariakit.PopoverProvider placement="bottom-start">
      <Ariakit.PopoverDisclosure className="term" aria-label={t.terms.whatIs(word)}>
        <CircleHelp aria-hidden size={14} />
      </Ariakit.PopoverDisclosure>
      <Ariakit.Popover className="term-text" gutter={4} portal unmountOnHide>
        <Ariakit.PopoverHeading render={<strong />}>{word}</Ariakit.PopoverHeading>
        <Ariakit.PopoverDescription>{text}</Ariakit.PopoverDescription>
      </Ariakit.Popover>
    </Ariakit.PopoverProvider>
  );
}
