/** The last checks, each with the reason for every entry that it saw. */
import { useState, type ReactElement } from 'react';
import { useRead } from '../../api/hooks.ts';
import type { Check, CheckedEntry } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber } from '../../format.ts';
import { Badge, Button, Pending, Time } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Table } from '../../ui/table.tsx';
import { countsText, reasonText } from './reasons.ts';

const MAX_SHOWN = 1_000;

export function Checks({ path }: { readonly path: string }): ReactElement {
  const read = useRead<{ checks: Check[] }>(`${path}/checks`, { everyMs: 5_000 });
  const [shown, setShown] = useState<Check>();
  if (read.data === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  if (read.data.checks.length === 0) return <p className="panel-body muted">Not checked yet.</p>;
  return (
    <>
      <Table
        label="Checks"
        rows={read.data.checks}
        rowKey={({ id }) => id}
        columns={[
          { head: 'When', cell: ({ startedAt }) => <Time iso={startedAt} isLong /> },
          {
            head: 'Outcome',
            cell: ({ outcome }) =>
              outcome === 'succeeded' ? (
                <Badge tone="good">Done</Badge>
              ) : outcome === 'failed' ? (
                <Badge tone="bad">Failed</Badge>
              ) : (
                <Badge tone="warn">Skipped</Badge>
              ),
          },
          {
            head: 'Took',
            align: 'end',
            cell: ({ durationMs }) => (durationMs === null ? '–' : formatDuration(durationMs)),
          },
          {
            head: 'Found',
            cell: ({ errorMessage, counts }) =>
              errorMessage === null ? (
                countsText(counts) || 'nothing'
              ) : (
                <span className="bad-text">{errorMessage}</span>
              ),
          },
          {
            head: 'Actions',
            isHeadHidden: true,
            align: 'end',
            cell: (check) => check.outcome === 'succeeded' && <Button onClick={() => setShown(check)}>Reasons</Button>,
          },
        ]}
      />
      {shown !== undefined && <Reasons path={`${path}/checks/${shown.id}`} onClose={() => setShown(undefined)} />}
    </>
  );
}

function Reasons({ path, onClose }: { readonly path: string; readonly onClose: () => void }): ReactElement {
  const read = useRead<{ entries: CheckedEntry[] }>(path);
  const entries = read.data?.entries ?? [];
  return (
    <Dialog title="Why each entry was reported or not" onClose={onClose} size="large">
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : entries.length === 0 ? (
        <p className="muted">The folder was empty.</p>
      ) : (
        <>
          {entries.length > MAX_SHOWN && (
            <p className="muted">
              The first {formatNumber(MAX_SHOWN)} of {formatNumber(entries.length)}.
            </p>
          )}
          <Table
            label="Reasons"
            rows={entries.slice(0, MAX_SHOWN)}
            rowKey={({ path: entry }) => entry}
            columns={[
              { head: 'Entry', cell: ({ path: entry }) => <span className="mono">{entry}</span> },
              { head: 'Reason', cell: ({ reason }) => reasonText(reason) },
              {
                head: 'Size',
                align: 'end',
                cell: ({ size, sizeBefore }) =>
                  size === undefined
                    ? ''
                    : sizeBefore === undefined
                      ? formatBytes(size)
                      : `${formatBytes(sizeBefore)} → ${formatBytes(size)}`,
              },
            ]}
          />
        </>
      )}
    </Dialog>
  );
}
