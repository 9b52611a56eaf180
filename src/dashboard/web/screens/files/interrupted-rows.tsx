/** Uploads that were interrupted when the page was closed, with buttons to resume them. */
import { useRef, type ReactElement } from 'react';
import { formatBytes } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/basics.tsx';
import { showToast } from '../../toasts.ts';
import { askForFile, isSameFile, noLongerInterrupted, useInterrupted } from './interrupted.ts';
import type { KeptUpload } from './kept-uploads.ts';
import { enqueueKept } from './queue.ts';
import { discardUpload } from './resumable.ts';

export function InterruptedRows(): ReactElement | null {
  const interrupted = useInterrupted();
  if (interrupted.length === 0) return null;
  return (
    <ul className="queue-interrupted" aria-label={t.queue.interrupted}>
      {interrupted.map((kept) => (
        <InterruptedRow key={kept.key} kept={kept} />
      ))}
    </ul>
  );
}

function InterruptedRow({ kept }: { readonly kept: KeptUpload }): ReactElement {
  const { name, size, connectionId, folder, key, url, handle } = kept;
  const picker = useRef<HTMLInputElement>(null);
  const take = (file: File | undefined): void => {
    if (file === undefined) return;
    if (isSameFile(kept, file)) enqueueKept(kept, file);
    else showToast(t.queue.anotherFile(name), 'bad');
  };
  const goOn = async (): Promise<void> => {
    const file = await askForFile(kept);
    if (file === undefined) picker.current?.click();
    else take(file);
  };
  return (
    <li className="queue-row">
      <div className="queue-name">
        <span>{name}</span>
      </div>
      <div className="queue-state small">
        {t.queue.interruptedState(formatBytes(size), connectionId, folder)}
        {handle === undefined && ` ${t.queue.chooseAgain}`}
      </div>
      <div className="row queue-decide">
        <Button onClick={() => void goOn()}>{handle === undefined ? t.queue.chooseFile : t.words.resume}</Button>
        <Button
          onClick={() => {
            noLongerInterrupted(key);
            void discardUpload(url, key);
          }}
        >
          {t.queue.giveUp}
        </Button>
        <input
          ref={picker}
          type="file"
          hidden
          aria-label={t.queue.chooseFileOf(name)}
          onChange={(event) => {
            take(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
      </div>
    </li>
  );
}
