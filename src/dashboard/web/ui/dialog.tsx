/** Dialogs with any content. */
import type { ReactElement, ReactNode } from 'react';
import { Overlay } from './overlay.tsx';
import { useUnsaved } from './unsaved.ts';

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
