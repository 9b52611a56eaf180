/** A look into a file: text, JSON, CSV and images; of long ones the beginning. */
import { useQuery } from '@tanstack/react-query';
import Papa from 'papaparse';
import { useState, type ReactElement } from 'react';
import { Download } from '../../ui/icons.tsx';
import { fetchAnswer, segment, withQuery } from '../../api/client.ts';
import type { FileInfo } from '../../api/types.ts';
import { formatBytes } from '../../format.ts';
import { Notice, Pending } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';

const MAX_BYTES = 256 * 1024;
const MAX_IMAGE_BYTES = 25 * 1024 * 1024;
const MAX_ROWS = 200;
const IMAGE = /\.(png|jpe?g|gif|webp|avif|svg|bmp|ico)$/i;

export function downloadUrl(connectionId: string, { path, rawName }: FileInfo): string {
  return withQuery(`/api/download/${segment(connectionId)}`, { path, rawName });
}

export function Preview(props: {
  readonly connectionId: string;
  readonly file: FileInfo;
  readonly onClose: () => void;
}): ReactElement {
  const { connectionId, file, onClose } = props;
  const url = downloadUrl(connectionId, file);
  return (
    <Dialog title={file.name} onClose={onClose} size="large">
      <div className="row spread">
        <span className="muted">{formatBytes(file.size)}</span>
        <a className="button plain" href={url} download={file.name}>
          <Download aria-hidden size={15} /> Download
        </a>
      </div>
      {IMAGE.test(file.name) ? <ImagePreview url={url} file={file} /> : <TextPreview url={url} file={file} />}
    </Dialog>
  );
}

function ImagePreview({ url, file }: { readonly url: string; readonly file: FileInfo }): ReactElement {
  const [isBroken, setBroken] = useState(false);
  if (file.size > MAX_IMAGE_BYTES) return <Notice>This image is too large to show here. Download it instead.</Notice>;
  if (isBroken)
    return <Notice tone="bad">The image cannot be shown: it could not be read, or is not what its name says.</Notice>;
  return <img className="preview-image" src={url} alt={file.name} onError={() => setBroken(true)} />;
}

function TextPreview({ url, file }: { readonly url: string; readonly file: FileInfo }): ReactElement {
  const text = useQuery({
    queryKey: [url, file.size, file.modifiedAt],
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) => readBeginning(url, file.size, signal),
  });
  if (text.data === undefined) return <Pending error={text.error} onRetry={() => void text.refetch()} />;
  if (text.data === null) return <Notice>This is not a text. Download it to look into it.</Notice>;
  const isCut = file.size > MAX_BYTES;
  return (
    <>
      {isCut && <Notice>These are the first {formatBytes(MAX_BYTES)}.</Notice>}
      {file.size === 0 ? (
        <p className="muted">The file is empty.</p>
      ) : (
        <Content name={file.name} text={text.data} isCut={isCut} />
      )}
    </>
  );
}

/** Null where it is no UTF-8 text. */
async function readBeginning(url: string, size: number, signal: AbortSignal): Promise<string | null> {
  if (size === 0) return '';
  const range = { Range: `bytes=0-${Math.min(size, MAX_BYTES) - 1}` };
  const bytes = await (await fetchAnswer('GET', url, undefined, signal, range)).arrayBuffer();
  try {
    // With `stream` a character that the range cuts in two is no mistake.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

function Content({ name, text, isCut }: { name: string; text: string; isCut: boolean }): ReactElement {
  if (/\.(csv|tsv)$/i.test(name)) return <CsvTable text={text} isCut={isCut} />;
  return (
    <pre className="preview-text" tabIndex={0} aria-label="Content">
      {/\.json$/i.test(name) && !isCut ? prettyJson(text) : text}
    </pre>
  );
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function CsvTable({ text, isCut }: { readonly text: string; readonly isCut: boolean }): ReactElement {
  const { data } = Papa.parse<string[]>(text, { skipEmptyLines: true, preview: MAX_ROWS + 1 });
  // The last row of a cut file may be half a row.
  const [head = [], ...rows] = isCut && data.length <= MAX_ROWS ? data.slice(0, -1) : data;
  return (
    <>
      {rows.length >= MAX_ROWS && <p className="muted">The first {MAX_ROWS} rows.</p>}
      <div className="preview-table" tabIndex={0} role="region" aria-label="Rows">
        <table>
          <thead>
            <tr>
              {head.map((name, index) => (
                <th key={index} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => (
                  <td key={column}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
