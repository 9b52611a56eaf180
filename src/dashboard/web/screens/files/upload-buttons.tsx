/** Buttons that add files or folders to the current folder. */
import { useRef, type ReactElement } from 'react';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/basics.tsx';
import { Link2, Upload } from '../../ui/icons.tsx';
import { FolderPlus } from '../../ui/later-icons.ts';
import { enqueueNamed, enqueuePicked } from './queue.ts';

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

/** Uploads one chosen file under the name of an upload that failed. */
export function ChooseAgain(props: {
  readonly connectionId: string;
  readonly folder: string;
  readonly name: string;
  readonly onChosen: () => void;
}): ReactElement {
  const { connectionId, folder, name, onChosen } = props;
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button variant="primary" icon={Upload} autoFocus onClick={() => input.current?.click()}>
        {t.transfers.again.choose}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t.transfers.again.chooseTitle(name)}
        onChange={({ target: { files } }) => {
          const [file] = files ?? [];
          if (file === undefined) return;
          enqueueNamed(connectionId, folder, file, name);
          onChosen();
        }}
      />
    </>
  );
}
