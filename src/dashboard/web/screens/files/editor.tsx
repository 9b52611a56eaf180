/** Edits a small text. It reads the file again before saving, so that it never silently overwrites changes of others. */
import { useState, type ReactElement } from 'react';
import { ApiError, request, segment } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { t } from '../../texts/texts.ts';
import { Button, Failure, Notice } from '../../ui/basics.tsx';
import { useUnsaved } from '../../ui/unsaved.ts';
import { readText } from './content.ts';

interface EditorProps {
  readonly connectionId: string;
  readonly path: string;
  readonly url: string;
  /** The content when it was read. */
  readonly initial: string;
  readonly onChanged: (isChanged: boolean) => void;
  /** Called after saving or cancelling. The content has to be read again. */
  readonly onEnd: () => void;
}

export function Editor({ connectionId, path, url, onChanged, onEnd, ...props }: EditorProps): ReactElement {
  // The text at the start of the edit. A later `initial` contains the changes of others.
  const [initial] = useState(props.initial);
  const shown = initial.replace(/\r\n?/g, '\n');
  // A text area turns every line end into a line feed.
  const isCrlf = initial.includes('\r\n') && !/(^|[^\r])\n|\r(?!\n)/.test(initial);
  const isMixed = !isCrlf && initial.includes('\r');
  const [text, setText] = useState(shown);
  const [hasMoved, setMoved] = useState(false);
  const isChanged = text !== shown;
  const save = useAction(
    async (isForced: boolean): Promise<boolean> => {
      if (!isForced && (await hasChanged(url, initial))) return false;
      const content = isCrlf ? text.replaceAll('\n', '\r\n') : text;
      await request('POST', `/api/write/${segment(connectionId)}`, { path, content });
      return true;
    },
    {
      showsError: true,
      refreshes: [`/api/list/${segment(connectionId)}`],
      onDone: (isSaved) => (isSaved ? onEnd() : setMoved(true)),
    },
  );
  useUnsaved(isChanged);
  return (
    <form
      className="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(false);
      }}
    >
      <textarea
        className="preview-text preview-edit"
        aria-label={t.files.edit.label}
        spellCheck={false}
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onChanged(event.target.value !== shown);
        }}
        onKeyDown={(event) => {
          if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          if (isChanged) save.mutate(false);
        }}
      />
      {isMixed && <p className="hint">{t.files.edit.mixedLines}</p>}
      <Failure error={save.error} />
      {hasMoved && (
        <Notice tone="warn" title={t.files.edit.movedTitle} isAlert>
          <p>{t.files.edit.movedText}</p>
          <div className="row">
            <Button variant="danger" isBusy={save.isPending} onClick={() => save.mutate(true)}>
              {t.files.edit.overwrite}
            </Button>
            <Button onClick={onEnd}>{t.files.edit.readAgain}</Button>
          </div>
        </Notice>
      )}
      <div className="dialog-actions">
        <Button onClick={onEnd}>{isChanged ? t.common.discard : t.common.cancel}</Button>
        <Button
          variant="primary"
          type="submit"
          isBusy={save.isPending}
          disabledBecause={hasMoved ? t.files.edit.movedTitle : !isChanged && t.common.off.same}
        >
          {t.form.save}
        </Button>
      </div>
    </form>
  );
}

/** A deleted file counts as changed. */
async function hasChanged(url: string, initial: string): Promise<boolean> {
  try {
    return (await readText(url, 'start'))?.text !== initial;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return true;
    throw error;
  }
}
