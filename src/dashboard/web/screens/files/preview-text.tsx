/** Texts: as text, as a table, as a tree, or as the end of a growing log. */
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { formatBytes } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button, Notice, Pending } from '../../ui/basics.tsx';
import { Pencil } from '../../ui/later-icons.ts';
import { MOST_TEXT, readText, type Kind, type Part } from './content.ts';
import { Editor } from './editor.tsx';
import { CsvTable } from './preview-csv.tsx';
import { JsonTree, parsed } from './preview-json.tsx';
import { LogTail } from './preview-log.tsx';

interface TextPreviewProps {
  readonly connectionId: string;
  readonly url: string;
  readonly file: FileInfo;
  readonly kind: Kind;
  readonly isEdit: boolean;
  readonly onChanged: (isChanged: boolean) => void;
}

export function TextPreview(props: TextPreviewProps): ReactElement {
  const { connectionId, url, file, kind, isEdit, onChanged } = props;
  const [which, setWhich] = useState<'start' | 'end'>(kind === 'log' ? 'end' : 'start');
  const [isEditing, setEditing] = useState(isEdit);
  const [isPlain, setPlain] = useState(false);
  const read = useQuery({
    queryKey: [url, file.size, file.modifiedAt, which],
    staleTime: Infinity,
    gcTime: 0,
    queryFn: ({ signal }) => readText(url, which, signal),
  });
  const part = read.data;
  if (part === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  if (part === null) return <Notice>{t.files.preview.notText}</Notice>;
  const again = (): void => {
    setEditing(false);
    onChanged(false);
    void read.refetch();
  };
  // A file whose name is not UTF-8 cannot be written.
  const canEdit = part.isWhole && file.rawName === undefined;
  if (isEditing && canEdit) {
    return (
      <Editor
        connectionId={connectionId}
        path={file.path}
        url={url}
        initial={part.text}
        onChanged={onChanged}
        onEnd={again}
      />
    );
  }
  const hasForm = kind === 'csv' || (kind === 'json' && part.isWhole && parsed(part.text) !== undefined);
  const tools = (
    <>
      {canEdit && (
        <Button icon={Pencil} onClick={() => setEditing(true)}>
          {t.files.edit.begin}
        </Button>
      )}
      {hasForm && part.text !== '' && (
        <Button variant="quiet" aria-pressed={isPlain} onClick={() => setPlain(!isPlain)}>
          {t.files.preview.asText}
        </Button>
      )}
      {!part.isWhole && (
        <>
          <span className="muted">{t.files.preview.cut[which](formatBytes(MOST_TEXT))}</span>
          <Button variant="quiet" onClick={() => setWhich(which === 'start' ? 'end' : 'start')}>
            {which === 'start' ? t.files.preview.toEnd : t.files.preview.toStart}
          </Button>
        </>
      )}
    </>
  );
  if (which === 'end') {
    return (
      <LogTail url={url} part={part}>
        {tools}
      </LogTail>
    );
  }
  return (
    <>
      <div className="row">{tools}</div>
      {part.text === '' ? (
        <p className="muted">{t.files.preview.empty}</p>
      ) : (
        <Content kind={isPlain || !hasForm ? 'text' : kind} part={part} />
      )}
    </>
  );
}

function Content({ kind, part }: { readonly kind: Kind; readonly part: Part }): ReactElement {
  if (kind === 'csv') return <CsvTable text={part.text} isCut={!part.isWhole} />;
  if (kind === 'json') return <JsonTree value={parsed(part.text)?.value} />;
  return (
    <pre className="preview-text" tabIndex={0} aria-label={t.files.preview.content}>
      {part.text}
    </pre>
  );
}
