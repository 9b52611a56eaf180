/** Forms that say at each field what is missing or wrong. */
import { type ReactElement, type ReactNode, useState } from 'react';
import { flushSync } from 'react-dom';
import { inputFault } from './faults.ts';
import { Checks } from './fields.tsx';

/** Sends nothing while a field is wrong: shows what is wrong at each one, and moves the focus to the first. */
export function CheckedForm(props: {
  readonly className?: string;
  readonly onChange?: () => void;
  /** Called with the button that sent the form. */
  readonly onSend: (by: HTMLElement | null) => void;
  readonly children: ReactNode;
}): ReactElement {
  const { onSend, children, ...form } = props;
  const [isSent, setSent] = useState(false);
  return (
    <Checks value={{ isSent, faultOf: inputFault }}>
      <form
        {...form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          const { currentTarget, nativeEvent } = event;
          const wrong = currentTarget.querySelector('[data-fault]');
          flushSync(() => setSent(wrong !== null));
          if (wrong !== null) focusIn(wrong);
          else onSend(nativeEvent.submitter);
        }}
      >
        {children}
      </form>
    </Checks>
  );
}

function focusIn(field: Element): void {
  for (let at = field.closest('details'); at !== null; at = at.parentElement?.closest('details') ?? null)
    at.open = true;
  field.querySelector<HTMLElement>('input, select, textarea')?.focus();
}
