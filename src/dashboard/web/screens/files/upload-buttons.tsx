/** Buttons that add files or folders to the current folder. */
import { useRef, type ReactElement } from 'react';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/basics.tsx';
import { FolderPlus, Link2, Upload } from '../../ui/icons.tsx';
import { enqueuePicked } from './queue.ts';

export function UploadButtons(props: {
  readonly connectionId: string;
  readonly folder: string;
  readonly onShare: () => void;
  readonly onNewFolder: () => void;
}): ReactElement {
  const { connectionId, folder, onShare, onNewFolder } = props;
  const files = useRef<HTMLInputElement>(null);
  const folders = useRef<HTMLInputElement>(null);
  const send = (input: HTMLInputElement): void => {
    if (input.files !== null) enqueuePicked(connectionId, folder, input.files);
    input.value = '';
  };
  return (
    <>
      <Button icon={Link2} onClick={onShare}>
        {t.files.share}
      </Button>
      <Button icon={FolderPlus} onClick={onNewFolder}>
        {t.files.newFolder}
      </Button>
      <Button icon={Upload} onClick={() => folders.current?.click()}>
        {t.queue.uploadFolder}
      </Button>
      <input
        ref={folders}
        type="file"
        {...{ webkitdirectory: '' }}
        hidden
        aria-label={t.queue.folderToUpload}
        onChange={(event) => send(event.target)}
      />
      <Button variant="primary" icon={Upload} onClick={() => files.current?.click()}>
        {t.files.upload}
      </Button>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label={t.files.filesToUpload}
        onChange={(event) => send(event.target)}
      />
    </>
  );
}
