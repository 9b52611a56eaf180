/** The button that repeats a failed transfer. */
import { type ReactElement, useRef } from 'react';
import { request, segment, withQuery } from '../../api/client.ts';
import type { Transfer, TransferDetail } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { LinkButton } from '../../ui/basics.tsx';
import { RotateCw, Upload } from '../../ui/icons.tsx';
import { titleOf } from './words.ts';

const words = t.transfers.again;
/** The gateway does not keep the bytes of these. Its sender can send the whole file again. */
const SENT: readonly TransferDetail['type'][] = ['upload', 'write'];

export const REPEATED = ['/manage/transfers', '/manage/overview', '/api/list'];

export function repeat(id: string) {
  return request('POST', `/manage/transfers/${id}/again`);
}

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
            return repeat(id);
          }}
          says={words.done}
          refreshes={REPEATED}
          onDone={(repeated) => {
            const hasFocus =
              document.activeElement === document.body || place.current?.contains(document.activeElement);
            if (onDone !== undefined && 'transfer' in repeated) onDone(repeated.transfer.id);
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

export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
