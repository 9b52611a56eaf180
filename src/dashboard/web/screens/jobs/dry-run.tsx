/** What a job would do: its dry run, from its start to its end, and the way on. */
import type { ReactElement } from 'react';
import { withQuery } from '../../api/client.ts';
import { useRead } from '../../api/hooks.ts';
import type { Job, JobFile } from '../../api/types.ts';
import { formatBytes, formatNumber } from '../../format.ts';
import { Badge, Button, Failure, Notice, Pending, Table } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useJob } from './live.ts';
import { JobProgress } from './rows.tsx';
import { countsText, hasEnded } from './words.ts';

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
    <Dialog title="What would happen" onClose={onClose} size="large" keepsOpen>
      {job === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : !hasEnded(job) ? (
        <div className="stack tight">
          <p role="status">Nothing is changed. {formatNumber(job.counts.found)} files found so far …</p>
          <JobProgress job={job} />
        </div>
      ) : (
        <Outcome job={job} />
      )}
      <Failure error={error} title={refused} />
      <div className="dialog-actions">
        <Button onClick={onClose}>Change something</Button>
        <Button
          look={job !== undefined && job.counts.deleted > 0 ? 'danger' : 'primary'}
          isBusy={isBusy}
          disabled={!isKnown}
          onClick={onStart}
        >
          {verb}
        </Button>
      </div>
    </Dialog>
  );
}

function Outcome({ job }: { readonly job: Job }): ReactElement {
  const read = useRead<{ files: JobFile[] }>(withQuery(`/api/jobs/${job.id}/files`, { limit: MAX_SHOWN }));
  const files = read.data?.files ?? [];
  return (
    <>
      {job.error !== null && (
        <Notice tone="bad" title="The job would end at once">
          {job.error}
        </Notice>
      )}
      <p role="status">
        {countsText(job)}. {job.settings.deleteExtra && `At most ${formatNumber(job.settings.maxDeletes)} are deleted.`}
      </p>
      {files.length > 0 && (
        <Table
          label="Files of the dry run"
          rows={files}
          rowKey={({ path, action }) => `${action} ${path}`}
          columns={[
            {
              head: 'What',
              cell: ({ action, state }) => (
                <Badge tone={state === 'failed' ? 'bad' : action === 'delete' ? 'warn' : 'info'}>
                  {state === 'failed' ? 'fails' : action}
                </Badge>
              ),
            },
            {
              head: 'File',
              cell: ({ path, error }) => (
                <div>
                  <span className="mono">{path}</span>
                  {error !== null && <div className="bad-text small">{error}</div>}
                </div>
              ),
            },
            { head: 'Size', align: 'end', cell: ({ size }) => formatBytes(size) },
          ]}
        />
      )}
      {files.length === MAX_SHOWN && (
        <p className="muted small">The first {formatNumber(MAX_SHOWN)}; the job’s own page lists all.</p>
      )}
    </>
  );
}
