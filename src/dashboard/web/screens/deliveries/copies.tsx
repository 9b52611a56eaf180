/** What became of each file that is copied before its message goes. */
import type { ReactElement } from 'react';
import { useRead } from '../../api/hooks.ts';
import type { Copy, Delivery } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Badge, Pending, Table, type Tone } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useConnectionNames } from '../jobs/rows.tsx';

const TONES: Readonly<Record<Copy['state'], Tone>> = { waiting: 'info', done: 'good', skipped: 'plain', failed: 'bad' };

export function Copies({ delivery, onClose }: { readonly delivery: Delivery; readonly onClose: () => void }) {
  return (
    <Dialog title={t.deliveries.copies} onClose={onClose} size="large">
      <CopyTable id={delivery.id} />
    </Dialog>
  );
}

export function CopyTable({ id }: { readonly id: string }): ReactElement {
  const read = useRead<{ copies: Copy[] }>(`/manage/deliveries/${id}/copies`, { everyMs: 5_000 });
  const nameOf = useConnectionNames();
  const { copyColumns: heads, copyStates } = t.deliveries;
  if (read.data === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <Table
      label={t.deliveries.copies}
      rows={read.data.copies}
      rowKey={({ path }) => path}
      columns={[
        { head: heads.file, cell: ({ path }) => <span className="mono">{path}</span> },
        { head: heads.state, cell: ({ state }) => <Badge tone={TONES[state]}>{copyStates[state]}</Badge> },
        {
          head: heads.copy,
          cell: ({ connectionId, target }) =>
            target !== null && (
              <>
                {nameOf(connectionId)} <span className="mono">{target}</span>
              </>
            ),
        },
        { head: heads.words, cell: ({ errorMessage }) => <span className="small">{errorMessage ?? ''}</span> },
      ]}
    />
  );
}
