/** The preview of a file, and the editor of small texts. It never runs content. */
import { useCallback, useRef, useState, type ReactElement } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { formatBytes, formatDateTime } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { CopyButton, DownloadLink } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Discard } from '../../ui/discard.tsx';
import { kindOf } from './content.ts';
import { isDated, rightsText } from './file-columns.ts';
import { downloadUrl, linkTo } from './links.ts';
import { ImagePreview, PdfPreview } from './preview-media.tsx';
import { TextPreview } from './preview-text.tsx';

interface PreviewProps {
  readonly connectionId: string;
  readonly file: FileInfo;
  /** Opens the editor. */
  readonly isEdit: boolean;
  readonly onClose: () => void;
}

export default function Preview({ connectionId, file, isEdit, onClose }: PreviewProps): ReactElement {
  const [isChanged, setChanged] = useState(false);
  // A ref, because Escape may follow the last letter before the next render.
  const hasChanges = useRef(false);
  const noteChanges = useCallback((has: boolean) => {
    hasChanges.current = has;
    setChanged(has);
  }, []);
  const [isAsking, setAsking] = useState(false);
  const url = downloadUrl(connectionId, file);
  const kind = kindOf(file.name);
  return (
    <Dialog
      title={file.name}
      onClose={() => (hasChanges.current ? setAsking(true) : onClose())}
      size="large"
      keepsOpen={isChanged}
    >
      <div className="row spread">
        <span className="muted">
          {[formatBytes(file.size), isDated(file) && formatDateTime(file.modifiedAt), rightsText(file)]
            .filter((fact) => fact !== false && fact !== '')
            .join(' · ')}
        </span>
        <div className="row">
          <CopyButton variant="quiet" label={t.files.copyLink} text={linkTo(connectionId, file)} />
          <DownloadLink href={url} filename={file.name}>
            {t.files.download}
          </DownloadLink>
        </div>
      </div>
      {kind === 'image' ? (
        <ImagePreview url={url} file={file} />
      ) : kind === 'pdf' ? (
        <PdfPreview url={url} file={file} />
      ) : (
        <TextPreview
          connectionId={connectionId}
          url={url}
          file={file}
          kind={kind}
          isEdit={isEdit}
          onChanged={noteChanges}
        />
      )}
      {isAsking && <Discard loss="changes" onStay={() => setAsking(false)} onDiscard={onClose} />}
    </Dialog>
  );
}
