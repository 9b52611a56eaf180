/** What the watch remembers of the folder; what is forgotten is new at the next check. */
import { useState, type ReactElement } from 'react';
import { request, withQuery } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { KnownFile } from '../../api/types.ts';
import { formatBytes, formatNumber } from '../../format.ts';
import { Badge, Button, Pending, Time } from '../../ui/basics.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Table } from '../../ui/table.tsx';

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
