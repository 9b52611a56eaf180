/** Accepts local files that are dropped anywhere on the current folder. */
import { useState, type ReactElement } from 'react';
import { t } from '../../texts/texts.ts';
import { dropInto, hasFiles } from './drag.ts';

export function DropZone(props: {
  readonly connectionId: string;
  readonly folder: string;
  /** Accepts nothing, because new files cannot be addressed in this folder. */
  readonly isClosed: boolean;
  readonly children: ReactElement;
}): ReactElement {
  const { connectionId, folder, isClosed, children } = props;
  const [isOver, setOver] = useState(false);
  return (
    <div
      className={isOver ? 'drop-zone over' : 'drop-zone'}
      onDragOverCapture={(event) => {
        const onFolder = event.target instanceof Element && event.target.closest('.drop-target') !== null;
        setOver(hasFiles(event) && !onFolder && !isClosed);
      }}
      onDragOver={(event) => {
        if (hasFiles(event)) event.preventDefault();
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDropCapture={() => setOver(false)}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        if (isClosed) event.preventDefault();
        else dropInto(event, connectionId, folder);
      }}
    >
      {children}
      {isOver && <div className="drop-hint">{t.files.dropHere}</div>}
    </div>
  );
}
