/** The dry run of a job from its start to its end, and the buttons that follow. */
import type { ReactElement } from 'react';
import { withQuery } from '../../api/client.ts';
import { useRead } from '../../api/hooks.ts';
import type { Job } from '../../api/types.ts';
import { formatBytes, formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Badge, Button, Failure, Notice, Pending, Table } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Reason } from '../../ui/reason.tsx';
import { useJob } from '../../api/live-job.ts';
import { JobProgress } from './rows.tsx';
import { countsText } from './words.ts';
import { hasEnded } from '../../../../contract/job-states.ts';

const MAX_SHOWN = 200;

export function DryRun(props: {
  readonly id: string;
  readonly verb: string;
  readonly refused: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onStart: () => void;
  readonly onClose: () => void;
}): ReactElement {
  const { id, verb, refused, isBusy, error, onStart, onClose } = props;
  const read = useJob(id);
  const job = read.data;
  const isKnown = job?.state === 'succeeded';
  return (
    <Dialog title={t.jobs.look.title} onClose={onClose} size="large" keepsOpen>
      {job === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : !hasEnded(job) ? (
        <div className="stack tight">
          <p role="status">{t.jobs.look.found(formatNumber(job.counts.found))}</p>
          <JobProgress job={job} />
        </div>
      ) : (
        <Outcome job={job} />
      )}
      <Failure error={error} title={refused} />
      <div className="dialog-actions">
        <Button onClick={onClose}>{t.jobs.look.change}</Button>
        <Button
          variant={job !== undefined && job.counts.deleted > 0 ? 'danger' : 'primary'}
          isBusy={isBusy}
          disabledBecause={!isKnown && t.jobs.look.notKnown}
          onClick={onStart}
        >
          {verb}
        </Button>
      </div>
    </Dialog>
  );
}

function Outcome({ job }: { readonly job: Job }): ReactElement {
  const read = useRead(withQuery(`/api/jobs/${job.id}/files`, { limit: MAX_SHOWN }));
  const files = read.data?.files ?? [];
  return (
    <>
      {job.error !== null && (
        <Notice tone="bad" title={t.jobs.look.endsAtOnce}>
          <Reason code={job.errorCode} text={job.error} />
        </Notice>
      )}
      <p role="status">
        {countsText(job)}. {job.settings.deleteExtra && t.jobs.look.mostDeleted(formatNumber(job.settings.maxDeletes))}
      </p>
      {files.length > 0 && (
        <Table
          label={t.jobs.look.table}
          rows={files}
          rowKey={({ path, action }) => `${action} ${path}`}
          columns={[
            {
              head: t.words.what,
              cell: ({ action, state }) => (
                <Badge tone={state === 'failed' ? 'bad' : action === 'delete' ? 'warn' : 'info'}>
                  {state === 'failed' ? t.jobs.look.fails : t.jobs.fileActions[action]}
                </Badge>
              ),
            },
            {
              head: t.words.file,
              cell: ({ path, error, errorCode }) => (
                <div>
                  <span className="mono">{path}</span>
                  {error !== null && (
                    <div className="bad-text small">
                      <Reason code={errorCode} text={error} isShort />
                    </div>
                  )}
                </div>
              ),
            },
            { head: t.words.size, align: 'end', cell: ({ size }) => formatBytes(size) },
          ]}
        />
      )}
      {files.length === MAX_SHOWN && <p className="muted small">{t.jobs.look.first(formatNumber(MAX_SHOWN))}</p>}
    </>
  );
}
