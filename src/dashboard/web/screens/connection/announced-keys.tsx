/** Host keys that a server announces to follow the trusted ones, and what their owner says to it. */
import type { ReactElement } from 'react';
import { request, segment } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { AnnouncedHostKey, HostKeysAnswer } from '../../api/types.ts';
import { Badge, Button, Failure, Panel, Time, type Tone } from '../../ui/basics.tsx';

const STATES: Readonly<Record<AnnouncedHostKey['state'], readonly [tone: Tone, text: string]>> = {
  trusted: ['good', 'trusted'],
  pending: ['warn', 'waits to be accepted'],
  rejected: ['plain', 'rejected'],
};

export function AnnouncedKeys({ id }: { readonly id: string }): ReactElement | null {
  const path = `/manage/connections/${segment(id)}/host-keys`;
  const read = useRead<HostKeysAnswer>(path);
  const refreshes = ['/manage/connections'];
  const accept = useAction((fingerprint: string) => request('POST', `${path}/accept`, { fingerprint }), {
    says: 'Host key accepted',
    refreshes,
    showsError: true,
  });
  const reject = useAction((fingerprint: string) => request('POST', `${path}/reject`, { fingerprint }), {
    says: 'Host key rejected',
    refreshes,
    showsError: true,
  });
  const announced = read.data?.announced ?? [];
  if (announced.length === 0) return null;
  return (
    <Panel title="Announced host keys">
      <div className="panel-body">
        <p className="muted">
          The server announces these keys under one that is trusted, and has proven that they are its own. Accept those
          that it is to go over to.
        </p>
        <ul className="stack">
          {announced.map(({ fingerprint, algorithm, state, lastSeenAt }) => (
            <li key={fingerprint} className="stack tight">
              <span className="mono">{fingerprint}</span>
              <div className="row">
                <Badge tone={STATES[state][0]}>{STATES[state][1]}</Badge>
                <span className="muted small">
                  {algorithm}, announced <Time iso={lastSeenAt} />
                </span>
              </div>
              {state !== 'trusted' && (
                <div className="row">
                  <Button
                    aria-label={`Accept ${fingerprint}`}
                    isBusy={accept.isPending && accept.variables === fingerprint}
                    onClick={() => accept.mutate(fingerprint)}
                  >
                    Accept
                  </Button>
                  {state === 'pending' && (
                    <Button
                      aria-label={`Reject ${fingerprint}`}
                      isBusy={reject.isPending && reject.variables === fingerprint}
                      onClick={() => reject.mutate(fingerprint)}
                    >
                      Reject
                    </Button>
                  )}
                </div>
              )}
            </li>
          ))}
        </ul>
        <Failure error={accept.error ?? reject.error} title="It was not done" />
      </div>
    </Panel>
  );
}
