/** Dialogs with a form, and with a question. */
import { useState, type ReactElement, type ReactNode } from 'react';
import { useAction } from '../api/hooks.ts';
import { formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import type { Running } from './actions.tsx';
import { Button, Failure } from './basics.tsx';
import { CheckedForm } from './checked-form.tsx';
import { Dialog } from './dialog.tsx';
import { Discard } from './discard.tsx';
import { TextField } from './fields.tsx';
import { MiddleName } from './middle-name.tsx';
import { useUnsaved } from './unsaved.ts';

/**
 * A dialog that sends its answer, by Enter as well, and shows an error below it. With several fields it asks before
 * typed input is lost by Escape, by the cross or by leaving the screen.
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
  /** Why there is nothing to send. What is missing at a field is said there. */
  readonly disabledBecause?: string | false;
  /** Whether there is input to lose. By default: any input in a dialog that is not small. */
  readonly isDirty?: boolean;
  readonly error?: Error | null | undefined;
  readonly onSend: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactElement {
  const { title, verb, variant = 'primary', size = 'small', keepsOpen = false, children } = props;
  const { isBusy = false, disabledBecause = false, error, onSend, onClose } = props;
  const [isTouched, setTouched] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const isDirty = props.isDirty ?? (isTouched && size !== 'small');
  const discard = props.discard ?? (isDirty ? t.common.discard : t.common.cancel);
  useUnsaved(isDirty && !isBusy, 'changes', onClose);
  return (
    <Dialog
      title={title}
      onClose={() => (isDirty ? setAsking(true) : onClose())}
      size={size}
      keepsOpen={keepsOpen || isDirty}
    >
      {isAsking && <Discard loss="changes" onStay={() => setAsking(false)} onDiscard={onClose} />}
      <CheckedForm className="stack" onChange={() => setTouched(true)} onSend={onSend}>
        {children}
        <Failure error={error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{discard}</Button>
          <Button variant={variant} type="submit" isBusy={isBusy} disabledBecause={disabledBecause}>
            {verb}
          </Button>
        </div>
      </CheckedForm>
    </Dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly verb: string;
  /** What the action is about, if the title does not name it. */
  readonly names?: readonly string[];
  readonly children: ReactNode;
  readonly typed?: string | undefined;
  readonly isBusy?: boolean;
  readonly error?: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before an action that cannot be undone. For important objects the user has to type the name. */
export function Confirm(props: ConfirmProps): ReactElement {
  const { typed, names = [], children, onConfirm, ...rest } = props;
  const [text, setText] = useState('');
  return (
    <FormDialog {...rest} variant="danger" discard={t.common.keep} onSend={onConfirm}>
      {names.length > 0 && <NameList names={names} />}
      <div>{children}</div>
      {typed !== undefined && (
        <TextField
          label={t.common.typeToConfirm(typed)}
          fault={text === typed ? undefined : t.common.typeToConfirm(typed)}
          value={text}
          onText={setText}
        />
      )}
    </FormDialog>
  );
}

/** Names in the question before an action. */
const NAMED = 10;

/** What an action is about. More than ten names are counted. */
function NameList({ names }: { readonly names: readonly string[] }): ReactElement {
  return (
    <ul className="bullets">
      {names.slice(0, NAMED).map((name, index) => (
        <li key={index}>
          <MiddleName name={name} />
        </li>
      ))}
      {names.length > NAMED && <li>{t.common.andMore(formatNumber(names.length - NAMED))}</li>}
    </ul>
  );
}

/** Asks before it runs the action. The dialog then closes, unless `onDone` leads elsewhere. */
export function ConfirmAction<R>(
  props: Running<R> & Omit<ConfirmProps, 'isBusy' | 'error' | 'onConfirm'>,
): ReactElement {
  const { run, says, refreshes, onDone = props.onClose, ...question } = props;
  const { isPending, error, mutate } = useAction(run, { says, refreshes, showsError: true, onDone });
  return <Confirm {...question} isBusy={isPending} error={error} onConfirm={() => mutate()} />;
}
