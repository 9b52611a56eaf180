/** Host keys that a server announced as successors of its trusted keys. The owner accepts or rejects them. */
import type { ReactElement } from 'react';
import { request, segment } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import { OVERVIEW } from '../../api/overview.ts';
import type { AnnouncedHostKey } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Badge, Button, Failure, Panel, Time, type Tone } from '../../ui/basics.tsx';

const words = t.connection.announced;
const TONES: Readonly<Record<AnnouncedHostKey['state'], Tone>> = {
  trusted: 'good',
  pending: 'warn',
  rejected: 'plain',
};

export function AnnouncedKeys({ id }: { readonly id: string }): ReactElement | null {
  const path = `/manage/connections/${segment(id)}/host-keys` as const;
  const read = useRead(path);
  const refreshes = ['/manage/connections', OVERVIEW];
  const accept = useAction((fingerprint: string) => request('POST', `${path}/accept`, { fingerprint }), {
    says: words.accepted,
    refreshes,
    showsError: true,
  });
  const reject = useAction((fingerprint: string) => request('POST', `${path}/reject`, { fingerprint }), {
    says: words.rejected,
    refreshes,
    showsError: true,
  });
  const announced = read.data?.announced ?? [];
  if (announced.length === 0) return null;
  return (
    <Panel isPadded title={words.title}>
      <p className="muted">{words.text}</p>
      <ul className="stack">
        {announced.map(({ fingerprint, algorithm, state, isFirst, lastSeenAt }) => (
          <li key={fingerprint} className="stack tight">
            <span className="mono">{fingerprint}</span>
            <div className="row">
              {state === 'pending' && isFirst ? (
                <Badge>{words.isFirst}</Badge>
              ) : (
                <Badge tone={TONES[state]}>{words.states[state]}</Badge>
              )}
              <span className="muted small">
                {words.at(algorithm)} <Time iso={lastSeenAt} />
              </span>
            </div>
            {state !== 'trusted' && (
              <div className="row">
                <Button
                  aria-label={words.acceptThis(fingerprint)}
                  isBusy={accept.isPending && accept.variables === fingerprint}
                  onClick={() => accept.mutate(fingerprint)}
                >
                  {words.accept}
                </Button>
                {state === 'pending' && (
                  <Button
                    aria-label={words.rejectThis(fingerprint)}
                    isBusy={reject.isPending && reject.variables === fingerprint}
                    onClick={() => reject.mutate(fingerprint)}
                  >
                    {words.reject}
                  </Button>
                )}
              </div>
            )}
          </li>
        ))}
      </ul>
      <Failure error={accept.error ?? reject.error} title={words.failed} />
    </Panel>
  );
}
