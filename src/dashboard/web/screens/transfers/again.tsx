/** Next steps after a transfer: repeat the request, open its folder, or copy it as curl. */
import { type ReactElement, useRef, useState } from 'react';
import { request, segment, withQuery } from '../../api/client.ts';
import type { Repeated, Transfer, TransferDetail } from '../../api/types.ts';
import { quoted } from '../files/links.ts';
import { t } from '../../texts/texts.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { Button, CodeBlock, DownloadLink, LinkButton } from '../../ui/basics.tsx';
import { titleOf } from './words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { FolderOpen, RotateCw, Upload } from '../../ui/icons.tsx';

const words = t.transfers.again;
/** The gateway does not keep the bytes of these. Its sender can send the whole file again. */
const SENT: readonly TransferDetail['type'][] = ['upload', 'write'];
/** The path of these is a folder. */
const OF_FOLDERS: readonly TransferDetail['type'][] = ['list', 'poll'];

/** Repeats a failed transfer, or leads to where its file is chosen again; nothing if neither is possible. */
export function TryAgain(props: {
  readonly transfer: Transfer | TransferDetail;
  readonly label?: string;
  /** Absent: the focus goes to the row, which loses its button. */
  readonly onDone?: (id: string) => void;
}): ReactElement | null {
  const { transfer, label, onDone } = props;
  const { id, connectionId, type, status, path, jobId, linkId, repeatable } = transfer;
  const place = useRef<HTMLSpanElement>(null);
  // The list may be read again, and the button be gone, before the answer.
  const row = useRef<Element | null | undefined>(null);
  const name = label === undefined ? { 'aria-label': words.named(titleOf(transfer)) } : {};
  if (repeatable) {
    return (
      <span ref={place}>
        <ActionButton
          {...name}
          icon={RotateCw}
          run={() => {
            row.current = place.current?.closest('[role=row]');
            return request<Repeated>('POST', `/manage/transfers/${id}/again`);
          }}
          says={words.done}
          refreshes={['/manage/transfers', '/manage/overview', '/api/list']}
          onDone={(repeated) => {
            const hasFocus =
              document.activeElement === document.body || place.current?.contains(document.activeElement);
            if (onDone !== undefined) onDone(repeated.transfer.id);
            else if (hasFocus === true) row.current?.querySelector('a')?.focus();
          }}
        >
          {label ?? t.common.tryAgain}
        </ActionButton>
      </span>
    );
  }
  if (jobId !== null || linkId !== null || connectionId === null) return null;
  if (status !== 'failed' || !SENT.includes(type)) return null;
  const again = path.slice(path.lastIndexOf('/') + 1);
  return (
    <LinkButton
      href={withQuery(`/files/${segment(connectionId)}`, { path: folderOf(path), again })}
      icon={Upload}
      {...name}
    >
      {label === undefined ? t.common.tryAgain : words.choose}
    </LinkButton>
  );
}

export function Again({ transfer }: { readonly transfer: TransferDetail }): ReactElement | null {
  const { connectionId, type, path, status } = transfer;
  const [isCurlOpen, setCurlOpen] = useState(false);
  if (connectionId === null || status === 'pending') return null;
  const folder = OF_FOLDERS.includes(type) ? path : folderOf(path);
  const files = withQuery(`/files/${segment(connectionId)}`, { path: folder });
  const curl = curlOf(transfer, connectionId, location.origin);
  return (
    <>
      {(type === 'download' || type === 'read') && (
        <DownloadLink href={withQuery(`/api/download/${segment(connectionId)}`, { path })}>
          {words.download}
        </DownloadLink>
      )}
      <LinkButton href={files} icon={FolderOpen}>
        {words.openFolder}
      </LinkButton>
      {curl !== undefined && <Button onClick={() => setCurlOpen(true)}>{words.curl}</Button>}
      {isCurlOpen && curl !== undefined && (
        <Dialog title={words.curl} onClose={() => setCurlOpen(false)}>
          <p className="hint">{words.curlHint}</p>
          <CodeBlock code={curl} label={words.curlLabel} />
        </Dialog>
      )}
    </>
  );
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

/** Undefined if the history does not have the whole request, such as the destination or the command. */
function curlOf(transfer: TransferDetail, connectionId: string, origin: string): string | undefined {
  const { type, path } = transfer;
  const id = segment(connectionId);
  const call = (target: string, ...more: string[]): string =>
    ['curl', '-H "Authorization: Bearer $FTG_KEY"', ...more, quoted(`${origin}${target}`)].join(' ');
  const json = (target: string, body: object): string =>
    call(target, "-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  const name = path.slice(path.lastIndexOf('/') + 1);
  switch (type) {
    case 'upload':
    case 'write':
      return call(
        withQuery(`/api/upload/${id}`, { path: folderOf(path), filename: name }),
        ...['-H "Content-Type: application/octet-stream"', `--data-binary @${quoted(name)}`],
      );
    case 'append':
      return json(`/api/append/${id}`, { path, content: '…' });
    case 'download':
    case 'read':
      return call(withQuery(`/api/download/${id}`, { path }), `-o ${quoted(name)}`);
    case 'list':
    case 'poll':
      return call(withQuery(`/api/list/${id}`, { path }));
    case 'exists':
      return call(withQuery(`/api/exists/${id}`, { path }));
    case 'mkdir':
      return json(`/api/mkdir/${id}`, { path });
    case 'delete':
      return json(`/api/delete/${id}`, { path });
    default:
      return undefined;
  }
}
