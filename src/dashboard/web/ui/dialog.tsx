/** Dialogs: with any content, with a form, and with a question. */
import { useState, type ReactElement, type ReactNode } from 'react';
import { Button, Failure } from './basics.tsx';
import { Discard } from './discard.tsx';
import { TextField } from './fields.tsx';
import { Overlay } from './overlay.tsx';
import { useUnsaved } from './unsaved.ts';
import { t } from '../texts/texts.ts';

export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** A sheet comes from the bottom of a phone. */
  readonly size?: 'small' | 'medium' | 'large' | 'sheet';
  readonly keepsOpen?: boolean;
  /** The content cannot be shown again. Only the button that confirms that it was kept closes the dialog. */
  readonly isShownOnce?: boolean;
}): ReactElement {
  const { title, onClose, children, size = 'medium', isShownOnce = false, keepsOpen = isShownOnce } = props;
  useUnsaved(isShownOnce, 'secret');
  return (
    <Overlay
      title={title}
      hasCross={!isShownOnce}
      onClose={isShownOnce ? undefined : onClose}
      closesOutside={!keepsOpen}
      className={`dialog ${size}`}
    >
      {children}
    </Overlay>
  );
}

/**
 * A dialog that sends its answer, also by Enter, and shows an error below it. With several fields it asks before typed
 * input is
 * lost by Escape, by the cross or by leaving the screen.
 */
export function FormDialog(props: {
  readonly title: string;
  readonly verb: string;
  readonly variant?: 'primary' | 'danger';
  /**
   * The label of the button that closes without sending. By default "Discard" if there is input to lose, otherwise
   * "Cancel".
   */
  readonly discard?: string;
  readonly size?: 'small' | 'medium';
  readonly keepsOpen?: boolean;
  readonly isBusy?: boolean;
  readonly isReady?: boolean;
  /** Whether there is input to lose. By default: any input in a dialog that is not small. */
  readonly isDirty?: boolean;
  readonly error?: Error | null | undefined;
  readonly onSend: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactElement {
  const { title, verb, variant = 'primary', size = 'small', keepsOpen = false, children } = props;
  const { isBusy = false, isReady = true, error, onSend, onClose } = props;
  const [isTouched, setTouched] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const isDirty = props.isDirty ?? (isTouched && size !== 'small');
  const discard = props.discard ?? (isDirty ? t.common.discard : t.common.cancel);
  useUnsaved(isDirty && !isBusy);
  return (
    <Dialog
      title={title}
      onClose={() => (isDirty ? setAsking(true) : onClose())}
      size={size}
      keepsOpen={keepsOpen || isDirty}
    >
      {isAsking && <Discard loss="changes" onStay={() => setAsking(false)} onDiscard={onClose} />}
      <form
        className="stack"
        onChange={() => setTouched(true)}
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onSend();
        }}
      >
        {children}
        <Failure error={error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{discard}</Button>
          <Button variant={variant} type="submit" isBusy={isBusy} disabled={!isReady}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export interface ConfirmProps {
  readonly title: string;
  readonly verb: string;
  readonly children: ReactNode;
  readonly typed?: string | undefined;
  readonly isBusy?: boolean;
  readonly error?: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before an action that cannot be undone. For important objects the user has to type the name. */
export function Confirm(props: ConfirmProps): ReactElement {
  const { typed, children, onConfirm, ...rest } = props;
  const [text, setText] = useState('');
  const isReady = typed === undefined || text === typed;
  return (
    <FormDialog {...rest} variant="danger" discard={t.common.keep} isReady={isReady} onSend={onConfirm}>
      <div>{children}</div>
      {typed !== undefined && <TextField label={t.common.typeToConfirm(typed)} value={text} onText={setText} />}
    </FormDialog>
  );
}
