/** The files of a job. Only visible rows are drawn, and the next page is read before the list ends. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { withQuery } from '../../api/client.ts';
import { usePages } from '../../api/hooks.ts';
import type { JobFile } from '../../api/types.ts';
import { formatBytes, formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Badge, Mono, Panel, Pending, Titled } from '../../ui/basics.tsx';
import { ChoiceField } from '../../ui/fields.tsx';
import { Reason } from '../../ui/reason.tsx';
import { MiddleName } from '../../ui/middle-name.tsx';
import { FILE_STATES } from './words.ts';

const ROW_PX = 38;
/** The next page is read when this many rows are left. */
const NEAR_END = 50;

export function JobFiles({ id, isOpen }: { readonly id: string; readonly isOpen: boolean }): ReactElement {
  const [state, setState] = useState('');
  const path = withQuery(`/api/jobs/${id}/files`, { state, limit: 200 });
  const list = usePages(path, 'files', isOpen ? { everyMs: 3_000 } : {});
  const { rows, hasMore, isFetchingMore, hasFailedMore, fetchMore } = list;
  return (
    <Panel
      title={t.words.files}
      actions={
        <span role="status" className="muted small">
          {isFetchingMore === true ? t.words.loadingMore : ''}
        </span>
      }
    >
      <div className="panel-body stack tight">
        <div className="filters one">
          <ChoiceField
            label={t.words.show}
            value={state}
            onText={setState}
            options={[
              ['', t.jobs.list.all],
              ...Object.entries(FILE_STATES).map(([name, [text]]) => [name, text] as const),
            ]}
          />
        </div>
        <p className="hint">{t.jobs.list.hint}</p>
      </div>
      {rows === undefined ? (
        <Pending error={list.error} onRetry={() => void list.refetch()} />
      ) : rows.length === 0 ? (
        <p className="panel-body muted">{state === '' ? t.jobs.list.none : t.jobs.list.noneInState}</p>
      ) : (
        <FileRows
          files={rows}
          isWhole={hasMore !== true}
          onNearEnd={() => {
            if (hasMore === true && isFetchingMore !== true && hasFailedMore !== true) fetchMore?.();
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
    <div role="table" aria-label={t.words.files} aria-rowcount={isWhole ? files.length + 1 : -1}>
      <div role="rowgroup" className="job-file-head">
        <div role="row" aria-rowindex={1} className="job-file">
          <div role="columnheader">{t.words.file}</div>
          <div role="columnheader">{t.words.state}</div>
          <div role="columnheader" className="end">
            {t.words.size}
          </div>
        </div>
      </div>
      <div ref={scroller} role="rowgroup" tabIndex={0} aria-label={t.jobs.list.ofJob} className="job-files">
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
                  <Titled
                    top={
                      <Mono>
                        <MiddleName name={file.path} />
                      </Mono>
                    }
                  >
                    {file.error !== null && (
                      <span className={file.state === 'failed' ? 'bad-text' : ''} title={file.error}>
                        <Reason code={file.errorCode} text={file.error} isShort />
                      </span>
                    )}
                  </Titled>
                </div>
                <div role="cell" className="row">
                  <Badge tone={tone}>{text}</Badge>
                  <span className="muted small">{t.jobs.fileActions[file.action]}</span>
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
        {(isWhole ? t.jobs.list.inAll : t.jobs.list.loaded)(formatNumber(files.length))}
      </p>
    </div>
  );
}
