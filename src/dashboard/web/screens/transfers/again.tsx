/** Next steps after a transfer: download it, open its folder, or copy the request as curl. */
import { type ReactElement, useState } from 'react';
import { segment, withQuery } from '../../api/client.ts';
import type { TransferDetail } from '../../api/types.ts';
import { quoted } from '../files/links.ts';
import { t } from '../../texts/texts.ts';
import { Button, CodeBlock, DownloadLink, LinkButton } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FolderOpen } from '../../ui/icons.tsx';
import { folderOf } from './try-again.tsx';

const words = t.transfers.again;
/** The path of these is a folder. */
const OF_FOLDERS: readonly TransferDetail['type'][] = ['list', 'poll'];

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
