/** The question before unsaved input is lost. */
import type { ReactElement } from 'react';
import { t } from '../texts/texts.ts';
import { Button } from './basics.tsx';
import { Overlay } from './overlay.tsx';
import { discard, type Loss, stay, useLeaving } from './unsaved.ts';

export function Discard(props: {
  readonly loss: Loss;
  readonly onStay: () => void;
  readonly onDiscard: () => void;
}): ReactElement {
  const { title, text, verb, back } = t.session.loss[props.loss];
  return (
    <Overlay role="alertdialog" title={title} description={text} onClose={props.onStay} className="dialog small">
      <div className="dialog-actions">
        <Button onClick={props.onStay}>{back}</Button>
        <Button variant="danger" onClick={props.onDiscard}>
          {verb}
        </Button>
      </div>
    </Overlay>
  );
}

/** Asks for the whole page. The shell contains it once. */
export function Question(): ReactElement | null {
  const leaving = useLeaving();
  return leaving === undefined ? null : <Discard loss={leaving.loss} onStay={stay} onDiscard={discard} />;
}
