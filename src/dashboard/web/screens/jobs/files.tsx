/** The files of a job, of which only those in sight are drawn; further pages are fetched as somebody comes near them. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { withQuery } from '../../api/client.ts';
import { usePages } from '../../api/hooks.ts';
import type { JobFile } from '../../api/types.ts';
import { formatBytes, formatNumber } from '../../format.ts';
import { Badge, Panel, Pending } from '../../ui/basics.tsx';
import { ChoiceField } from '../../ui/fields.tsx';
import { FILE_STATES } from './words.ts';

const ROW_PX = 44;
/** Rows before the end at which the next page is asked for. */
const NEAR_END = 50;

interface FilePage {
  readonly files: readonly JobFile[];
  readonly nextCursor: string | null;
}

const ACTIONS: Readonly<Record<JobFile['action'], string>> = {
  copy: 'copy',
  move: 'move',
  delete: 'delete',
  list: 'list the folder',
  upload: 'upload',
};

export function JobFiles({ id, isOpen }: { readonly id: string; readonly isOpen: boolean }): ReactElement {
  const [state, setState] = useState('');
  const path = withQuery(`/api/jobs/${id}/files`, { state, limit: 200 });
  const pages = usePages<FilePage>(path, isOpen ? { everyMs: 3_000 } : {});
  const files = (pages.data?.pages ?? []).flatMap((page) => page.files);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = pages;
  return (
    <Panel
      title="Files"
      actions={
        <span role="status" className="muted small">
          {isFetchingNextPage ? 'Loading …' : ''}
        </span>
      }
    >
      <div className="panel-body stack tight">
        <div className="filters one">
          <ChoiceField
            label="Show"
            value={state}
            onText={setState}
            options={[['', 'All files'], ...Object.entries(FILE_STATES).map(([name, [text]]) => [name, text] as const)]}
          />
        </div>
        <p className="hint">In the order in which they were found. What a sync found unchanged is counted alone.</p>
      </div>
      {pages.data === undefined ? (
        <Pending error={pages.error} onRetry={() => void pages.refetch()} />
      ) : files.length === 0 ? (
        <p className="panel-body muted">{state === '' ? 'No file is listed yet.' : 'No file is in this state.'}</p>
      ) : (
        <FileRows
          files={files}
          isWhole={!hasNextPage}
          onNearEnd={() => {
            if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
          }}
        />
      )}
    </Panel>
  );
}

function FileRows({
  files,
  isWhole,
  onNearEnd,
}: {
  readonly files: readonly JobFile[];
  readonly isWhole: boolean;
  readonly onNearEnd: () => void;
}): ReactElement {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: files.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= files.length - NEAR_END) onNearEnd();
  }, [last, files.length, onNearEnd]);
  return (
    <div role="table" aria-label="Files" aria-rowcount={isWhole ? files.length + 1 : -1}>
      <div role="rowgroup" className="job-file-head">
        <div role="row" aria-rowindex={1} className="job-file">
          <div role="columnheader">File</div>
          <div role="columnheader">State</div>
          <div role="columnheader" className="end">
            Size
          </div>
        </div>
      </div>
      <div ref={scroller} role="rowgroup" tabIndex={0} aria-label="Files of the job" className="job-files">
        <div role="presentation" className="job-file-rows" style={{ blockSize: `${rows.getTotalSize()}px` }}>
          {shown.map(({ index, start }) => {
            const file = files[index];
            if (file === undefined) return null;
            const [text, tone] = FILE_STATES[file.state];
            return (
              <div
                key={index}
                ref={rows.measureElement}
                role="row"
                data-index={index}
                aria-rowindex={index + 2}
                className="job-file"
                style={{ transform: `translateY(${start}px)` }}
              >
                <div role="cell">
                  <span className="mono">{file.path}</span>
                  {file.error !== null && (
                    <div className={file.state === 'failed' ? 'bad-text small' : 'muted small'}>{file.error}</div>
                  )}
                </div>
                <div role="cell" className="row">
                  <Badge tone={tone}>{text}</Badge>
                  <span className="muted small">{ACTIONS[file.action]}</span>
                </div>
                <div role="cell" className="end number">
                  {formatBytes(file.size)}
                </div>
              </div>
            );
          })}
        </div>
      </div>
      <p className="panel-body muted small">
        {formatNumber(files.length)} {isWhole ? 'in all' : 'loaded; scroll for more'}
      </p>
    </div>
  );
}
