/** Images and PDFs. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { every } from '../../../../base/every.ts';
import { fetchAnswer } from '../../api/client.ts';
import type { FileInfo } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Notice, Pending } from '../../ui/basics.tsx';
import { MOST_MEDIA } from './content.ts';

interface Shown {
  readonly url: string;
  readonly file: FileInfo;
}

/** The start of a PDF, which other bytes may precede. */
const MARK = '%PDF-';
const MARK_WITHIN = 1_024;

export function ImagePreview({ url, file }: Shown): ReactElement {
  const [isBroken, setBroken] = useState(false);
  if (file.size > MOST_MEDIA) return <Notice>{t.files.preview.tooLarge}</Notice>;
  if (isBroken) return <Notice tone="bad">{t.files.preview.badImage}</Notice>;
  return <img className="preview-image" src={url} alt={file.name} onError={() => setBroken(true)} />;
}

const FOCUS_CHECK_MS = 100;
/** After this time the user may have clicked into the viewer. */
const VIEWER_LOADS_MS = 10_000;

/** The browser's viewer gets the bytes as a PDF regardless of their type, so an HTML page never runs. */
export function PdfPreview({ url, file }: Shown): ReactElement {
  const isSmall = file.size <= MOST_MEDIA;
  const pdf = useQuery({
    queryKey: [url, file.size, file.modifiedAt],
    enabled: isSmall,
    staleTime: 0,
    gcTime: 0,
    structuralSharing: false,
    queryFn: async ({ signal }) => (await fetchAnswer('GET', url, undefined, signal)).arrayBuffer(),
  });
  const address = useObjectUrl(pdf.data);
  if (!isSmall) return <Notice>{t.files.preview.tooLarge}</Notice>;
  if (pdf.data === undefined) return <Pending error={pdf.error} onRetry={() => void pdf.refetch()} />;
  const start = new TextDecoder('latin1').decode(pdf.data.slice(0, MARK_WITHIN));
  if (!start.includes(MARK)) return <Notice tone="bad">{t.files.preview.badPdf}</Notice>;
  if (navigator.pdfViewerEnabled === false) return <Notice>{t.files.preview.noPdfViewer}</Notice>;
  return <>{address !== undefined && <PdfFrame address={address} name={file.name} />}</>;
}

function PdfFrame({ address, name }: { readonly address: string; readonly name: string }): ReactElement {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    // The viewer takes the focus while it loads, more than once and not always with an event. Escape would then not close
    // the dialog.
    let isTabbing = false;
    const onKey = (event: KeyboardEvent): void => {
      isTabbing = event.key === 'Tab';
    };
    const takeBack = (): void => {
      const viewer = frame.current;
      if (viewer === null || document.activeElement !== viewer || isTabbing) return;
      viewer.closest<HTMLElement>('[role="dialog"]')?.focus();
    };
    const stopChecking = every(FOCUS_CHECK_MS, takeBack);
    const loaded = setTimeout(stopChecking, VIEWER_LOADS_MS);
    window.addEventListener('keydown', onKey, { capture: true });
    return () => {
      stopChecking();
      clearTimeout(loaded);
      window.removeEventListener('keydown', onKey, { capture: true });
    };
  }, []);
  return <iframe ref={frame} className="preview-pdf" src={address} title={name} />;
}

function useObjectUrl(bytes: ArrayBuffer | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (bytes === undefined) return undefined;
    const made = URL.createObjectURL(new Blob([bytes], { type: 'application/pdf' }));
    // eslint-disable-next-line react-hooks/set-state-in-effect -- the URL has to be revoked with the bytes
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes]);
  return address;
}
