/** A dialog over the page, on Ariakit. The focus stays inside and returns at the end. */
import * as Ariakit from '@ariakit/react';
import type { ReactElement, ReactNode } from 'react';
import { t } from '../texts/texts.ts';
import { X } from './icons.tsx';

interface OverlayProps {
  readonly className: string;
  readonly role?: 'dialog' | 'alertdialog';
  /** The heading. If absent, `label` names the dialog. */
  readonly title?: string;
  readonly label?: string;
  /** Read out when the dialog opens. */
  readonly description?: ReactNode;
  readonly hasCross?: boolean;
  /** If absent, Escape does not close the dialog. */
  readonly onClose?: (() => void) | undefined;
  /** A click beside the dialog closes it. */
  readonly closesOutside?: boolean;
  readonly backdrop?: string;
  readonly children: ReactNode;
}

export default function OverlayFrame(props: OverlayProps): ReactElement {
  const { className, role = 'dialog', title, label, description, hasCross = false, onClose } = props;
  const { closesOutside = false, backdrop = 'backdrop', children } = props;
  return (
    <Ariakit.Dialog
      open
      role={role}
      aria-label={label}
      onClose={() => onClose?.()}
      hideOnEscape={onClose !== undefined}
      hideOnInteractOutside={closesOutside}
      backdrop={<div className={backdrop} />}
      className={className}
    >
      {title !== undefined && (
        <header className="dialog-head">
          <Ariakit.DialogHeading render={<h2 />}>{title}</Ariakit.DialogHeading>
          {hasCross && (
            <Ariakit.DialogDismiss className="icon-button" aria-label={t.common.close}>
              <X aria-hidden size={18} />
            </Ariakit.DialogDismiss>
          )}
        </header>
      )}
      {description !== undefined && <Ariakit.DialogDescription>{description}</Ariakit.DialogDescription>}
      {children}
    </Ariakit.Dialog>
  );
}
