/** Dialogs and menus, on Ariakit: focus kept inside, given back at the end, Escape closes. */
import * as Ariakit from '@ariakit/react';
import { useState, type ReactElement, type ReactNode } from 'react';
import { Ellipsis, X } from 'lucide-react';
import { Button, Notice } from './basics.tsx';
import { TextField } from './fields.tsx';

export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly size?: 'small' | 'medium' | 'large';
  readonly keepsOpen?: boolean;
}): ReactElement {
  const { title, onClose, children, size = 'medium', keepsOpen = false } = props;
  return (
    <Ariakit.Dialog
      open
      onClose={onClose}
      hideOnInteractOutside={!keepsOpen}
      backdrop={<div className="backdrop" />}
      className={`dialog ${size}`}
    >
      <header className="dialog-head">
        <Ariakit.DialogHeading render={<h2 />}>{title}</Ariakit.DialogHeading>
        <Ariakit.DialogDismiss className="icon-button" aria-label="Close">
          <X aria-hidden size={18} />
        </Ariakit.DialogDismiss>
      </header>
      {children}
    </Ariakit.Dialog>
  );
}

/** Asks before what cannot be undone; where much is at stake, the name has to be typed. */
export function Confirm(props: {
  readonly title: string;
  readonly verb: string;
  readonly children: ReactNode;
  readonly typed?: string;
  readonly isBusy?: boolean;
  readonly error?: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}): ReactElement {
  const { title, verb, children, typed, isBusy = false, error, onConfirm, onClose } = props;
  const [text, setText] = useState('');
  const isReady = typed === undefined || text === typed;
  return (
    <Dialog title={title} onClose={onClose} size="small">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onConfirm();
        }}
      >
        <div>{children}</div>
        {typed !== undefined && <TextField label={`Type “${typed}” to confirm`} value={text} onText={setText} />}
        {error !== undefined && error !== null && (
          <Notice tone="bad" isAlert>
            {error.message}
          </Notice>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>Keep</Button>
          <Button look="danger" type="submit" isBusy={isBusy} disabled={!isReady}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export interface MenuEntry {
  readonly label: string;
  readonly onSelect: () => void;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
}

export function Menu({
  label,
  entries,
}: {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
}): ReactElement {
  return (
    <Ariakit.MenuProvider placement="bottom-end">
      <Ariakit.MenuButton className="icon-button bordered" aria-label={label}>
        <Ellipsis aria-hidden size={16} />
      </Ariakit.MenuButton>
      <Ariakit.Menu className="menu" gutter={4} portal>
        {entries.map(({ label: text, onSelect, isDanger = false, isDisabled = false }) => (
          <Ariakit.MenuItem
            key={text}
            className={isDanger ? 'menu-item danger' : 'menu-item'}
            disabled={isDisabled}
            onClick={onSelect}
          >
            {text}
          </Ariakit.MenuItem>
        ))}
      </Ariakit.Menu>
    </Ariakit.MenuProvider>
  );
}
