/** The last checks with the reason for every entry, and what the watch remembers of the folder. */
import { type ReactElement, useState } from 'react';
import { request, withQuery } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Check, CheckedEntry, KnownFile } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber } from '../../format.ts';
import { Badge, Button, Pending, Table, Time } from '../../ui/basics.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';

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

/** Why a check reported an entry, or did not, in words. */
const REASONS: Readonly<Record<string, string>> = {
  new: 'new: reported',
  modified: 'changed: reported',
  unchanged: 'known and unchanged',
  baseline: 'there before the watch began',
  settling: 'too young: looked at again',
  growing: 'still growing',
  empty: 'empty and new: waits for content',
  pattern: 'does not fit the pattern',
  excluded: 'excluded',
  temporary_name: 'a temporary name',
  marker: 'a marker of another file',
  modification_ignored: 'changed, but new files alone are reported',
  waiting_for_marker: 'waits for its marker',
  over_cap: 'left for the next check',
  gone: 'gone since the last check',
};

function reasonText(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll('_', ' ');
}

export function countsText(counts: Readonly<Record<string, number>> | null): string {
  return Object.entries(counts ?? {})
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${reasonText(reason)}`)
    .join('; ');
}

const PAGE = 50;

export function KnownFiles({ path }: { readonly path: string }): ReactElement {
  const [after, setAfter] = useState<readonly string[]>([]);
  const [isForgetting, setForgetting] = useState(false);
  const read = useRead<{ files: KnownFile[]; total: number }>(
    withQuery(`${path}/files`, { after: after.at(-1), limit: PAGE }),
  );
  const forget = useAction(
    (one: string | undefined) => request('POST', `${path}/forget`, one === undefined ? {} : { path: one }),
    {
      says: 'Forgotten: it is new at the next check',
      refreshes: [path],
      onDone: () => setForgetting(false),
    },
  );
  if (read.data === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  const { files, total } = read.data;
  if (total === 0) return <p className="panel-body muted">No file is known yet.</p>;
  return (
    <>
      <div className="panel-body row spread">
        <span>{formatNumber(total)} files are known</span>
        <Button onClick={() => setForgetting(true)}>Forget all …</Button>
      </div>
      <Table
        label="Known files"
        rows={files}
        rowKey={(file) => file.path}
        columns={[
          { head: 'File', cell: (file) => <span className="mono">{file.path}</span> },
          {
            head: 'State',
            cell: ({ state }) =>
              state === 'known' ? (
                'known'
              ) : (
                <Badge tone="info">{state === 'waiting' ? 'waits to settle' : 'changing'}</Badge>
              ),
          },
          { head: 'Size', align: 'end', cell: ({ size }) => formatBytes(size) },
          { head: 'Changed', cell: ({ modifiedAt }) => (modifiedAt === null ? '–' : <Time iso={modifiedAt} />) },
          {
            head: 'Actions',
            isHeadHidden: true,
            align: 'end',
            cell: (file) => (
              <Button look="quiet" onClick={() => forget.mutate(file.path)} aria-label={`Forget ${file.path}`}>
                Forget
              </Button>
            ),
          },
        ]}
      />
      <div className="panel-body row">
        <Button disabled={after.length === 0} onClick={() => setAfter(after.slice(0, -1))}>
          Before
        </Button>
        <Button disabled={files.length < PAGE} onClick={() => setAfter([...after, files.at(-1)?.path ?? ''])}>
          Next
        </Button>
      </div>
      {isForgetting && (
        <Confirm
          title="Forget all files?"
          verb="Forget all"
          isBusy={forget.isPending}
          onClose={() => setForgetting(false)}
          onConfirm={() => forget.mutate(undefined)}
        >
          <p>Everything in the folder is new at the next check, and is reported.</p>
        </Confirm>
      )}
    </>
  );
}
