/** Buttons and dialogs that change something on the gateway. */
import type { ReactElement } from 'react';
import { type ActionOptions, useAction } from '../api/hooks.ts';
import { Button, type ButtonProps, CodeBlock, Notice } from './basics.tsx';
import { Dialog } from './dialog.tsx';

export interface Running<R> extends Pick<ActionOptions<R>, 'says' | 'refreshes' | 'onDone'> {
  readonly run: () => Promise<R>;
}

/** Runs the action on a click, without a question. */
export function ActionButton<R>({ run, says, refreshes, onDone, ...button }: Running<R> & ButtonProps): ReactElement {
  const { isPending, mutate } = useAction(run, { says, refreshes, onDone });
  return <Button {...button} isBusy={isPending} onClick={() => mutate()} />;
}

/** Shows a secret that the gateway does not show again. */
export function ShownOnce(props: {
  readonly title: string;
  readonly warning: string;
  readonly text: string;
  readonly codes: readonly { readonly head?: string; readonly code: string; readonly label: string }[];
  /** The label of the button that confirms that the secret was kept. */
  readonly kept: string;
  readonly onClose: () => void;
}): ReactElement {
  const { title, warning, text, codes, kept, onClose } = props;
  return (
    <Dialog title={title} onClose={onClose} isShownOnce>
      <Notice tone="warn" title={warning}>
        {text}
      </Notice>
      {codes.map(({ head, code, label }) => (
        <div key={label} className="stack tight">
          {head !== undefined && <h3>{head}</h3>}
          <CodeBlock code={code} label={label} />
        </div>
      ))}
      <div className="dialog-actions">
        <Button variant="primary" onClick={onClose}>
          {kept}
        </Button>
      </div>
    </Dialog>
  );
}
