/** Transfers that have ended, or are still running, as rows. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { Transfer } from '../../api/types.ts';
import { formatBytes, formatDuration } from '../../format.ts';
import { Badge, Time, type Tone } from '../../ui/basics.tsx';
import { Table } from '../../ui/table.tsx';

export const STATUS: Readonly<Record<Transfer['status'], readonly [text: string, tone: Tone]>> = {
  success: ['Done', 'good'],
  failed: ['Failed', 'bad'],
  pending: ['Running', 'info'],
};

export function TransferTable({ transfers }: { readonly transfers: readonly Transfer[] }): ReactElement {
  return (
    <Table
      label="Transfers"
      rows={transfers}
      rowKey={({ id }) => id}
      columns={[
        { head: 'Started', cell: ({ createdAt }) => <Time iso={createdAt} /> },
        {
          head: 'What',
          cell: ({ id, type, filename, path, errorMessage, status }) => (
            <div>
              <Link href={`/transfers/${id}`}>
                {type} {filename === '' ? path : filename}
              </Link>
              <div className="muted small">
                {status === 'failed' && errorMessage !== null ? <span className="bad-text">{errorMessage}</span> : path}
              </div>
            </div>
          ),
        },
        {
          head: 'Connection',
          cell: ({ connectionId }) => connectionId ?? '–',
        },
        { head: 'Size', align: 'end', cell: ({ fileSize }) => formatBytes(fileSize) },
        {
          head: 'Took',
          align: 'end',
          cell: ({ durationMs, status }) => (status === 'pending' ? '–' : formatDuration(durationMs)),
        },
        {
          head: 'Status',
          cell: ({ status }) => {
            const [text, tone] = STATUS[status];
            return <Badge tone={tone}>{text}</Badge>;
          },
        },
      ]}
    />
  );
}
