import type { ReactElement } from 'react';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Session } from '../../api/types.ts';
import { Ago, Badge, Button, Panel, Pending, Time } from '../../ui/basics.tsx';
import { Table } from '../../ui/table.tsx';

const READS = ['/manage/sessions'];

export function SessionsPanel(): ReactElement {
  const read = useRead<{ sessions: Session[] }>('/manage/sessions');
  const end = useAction((id: string) => request('DELETE', `/manage/sessions/${id}`), {
    says: 'Session ended',
    refreshes: READS,
  });
  const endOthers = useAction(() => request('POST', '/manage/sessions/revoke-others'), {
    says: 'All other sessions have ended',
    refreshes: READS,
  });
  const sessions = read.data?.sessions ?? [];
  return (
    <Panel
      title="Sessions"
      actions={
        sessions.length > 1 && (
          <Button isBusy={endOthers.isPending} onClick={() => endOthers.mutate(undefined)}>
            End all others
          </Button>
        )
      }
    >
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Table
          label="Sessions"
          rows={sessions}
          rowKey={({ id }) => id}
          columns={[
            {
              head: 'Browser',
              cell: ({ userAgent, isCurrent }) => (
                <span className="row">
                  {browserOf(userAgent)}
                  {isCurrent && <Badge tone="info">This one</Badge>}
                </span>
              ),
            },
            { head: 'Address', cell: ({ address }) => <span className="mono">{address}</span> },
            { head: 'Logged in', cell: ({ createdAt }) => <Time iso={createdAt} /> },
            { head: 'Last seen', cell: ({ lastSeenAt }) => <Ago iso={lastSeenAt} /> },
            {
              head: 'Actions',
              isHeadHidden: true,
              align: 'end',
              cell: ({ id, isCurrent, address }) =>
                !isCurrent && (
                  <Button onClick={() => end.mutate(id)} aria-label={`End the session from ${address}`}>
                    End
                  </Button>
                ),
            },
          ]}
        />
      )}
    </Panel>
  );
}

/** Enough to know one's own browsers apart. */
function browserOf(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown';
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)\//.exec(userAgent)?.[1] ?? userAgent.slice(0, 40);
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[1];
  const name = { Edg: 'Edge', OPR: 'Opera' }[browser] ?? browser;
  return system === undefined ? name : `${name} on ${system.replace('Mac OS X', 'macOS')}`;
}
