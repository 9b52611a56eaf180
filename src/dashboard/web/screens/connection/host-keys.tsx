/** The host keys that are trusted, and those that the server shows now. */
import type { ReactElement } from 'react';
import { request, segment } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Connection } from '../../api/types.ts';
import { Badge, Button, Notice, Panel } from '../../ui/basics.tsx';

export function HostKeys({
  connection,
  isOwned,
}: {
  readonly connection: Connection;
  readonly isOwned: boolean;
}): ReactElement {
  const { id, hostKeys = [], hostKeysLearned = false } = connection;
  const path = `/manage/connections/${segment(id)}/host-keys`;
  const scan = useAction(() =>
    request<{ shown: { fingerprint: string; isPinned: boolean }[] }>('POST', `${path}/scan`),
  );
  const pin = useAction((fingerprint: string) => request('POST', path, { fingerprint }), {
    says: 'Host key pinned',
    refreshes: ['/manage/connections'],
  });
  const forget = useAction(() => request('DELETE', path), {
    says: 'Host keys forgotten',
    refreshes: ['/manage/connections'],
  });
  return (
    <Panel title="Host keys">
      <div className="panel-body">
        {hostKeys.length === 0 ? (
          <p className="muted">None yet. The key that the server shows first will be remembered.</p>
        ) : (
          <ul className="stack tight">
            {hostKeys.map((key) => (
              <li key={key} className="row">
                <span className="mono">{key}</span>
                <Badge>{hostKeysLearned ? 'remembered at first use' : 'pinned'}</Badge>
              </li>
            ))}
          </ul>
        )}
        <div className="row">
          <Button isBusy={scan.isPending} onClick={() => scan.mutate(undefined)}>
            See what the server shows
          </Button>
          {hostKeys.length > 0 && !isOwned && (
            <Button isBusy={forget.isPending} onClick={() => forget.mutate(undefined)}>
              Forget
            </Button>
          )}
        </div>
        {scan.data?.shown.map(({ fingerprint, isPinned }) => (
          <Notice
            key={fingerprint}
            tone={isPinned ? 'good' : 'warn'}
            title={isPinned ? 'Shown now, and known' : 'Shown now, and not known'}
          >
            <p className="mono">{fingerprint}</p>
            {!isPinned && !isOwned && <Button onClick={() => pin.mutate(fingerprint)}>Pin this key</Button>}
          </Notice>
        ))}
      </div>
    </Panel>
  );
}
