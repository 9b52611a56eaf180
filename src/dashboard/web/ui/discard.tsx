/** The question before unsaved input is lost. */
import * as Ariakit from '@ariakit/react';
import type { ReactElement } from 'react';
import { t } from '../texts/texts.ts';
import { Button } from './basics.tsx';
import { discard, type Loss, stay, useLeaving } from './unsaved.ts';

export function Discard(props: {
  readonly loss: Loss;
  readonly onStay: () => void;
  readonly onDiscard: () => void;
}): ReactElement {
  const { title, text, verb, back } = t.session.loss[props.loss];
  return (
    <Ariakit.Dialog
      open
      role="alertdialog"
      onClose={props.onStay}
      hideOnInteractOutside={false}
      backdrop={<div className="backdrop" />}
      className="dialog small"
    >
      <header className="dialog-head">
        <Ariakit.DialogHeading render={<h2 />}>{title}</Ariakit.DialogHeading>
      </header>
      <Ariakit.DialogDescription>{text}</Ariakit.DialogDescription>
      <div className="dialog-actions">
        <Button onClick={props.onStay}>{back}</Button>
        <Button variant="danger" onClick={props.onDiscard}>
          {verb}
        </Button>
      </div>
    </Ariakit.Dialog>
  );
}

/** Asks for the whole page. The shell contains it once. */
export function Question(): ReactElement | null {
  const leaving = useLeaving();
  return leaving === undefined ? null : <Discard loss={leaving.loss} onStay={stay} onDiscard={discard} />;
}
