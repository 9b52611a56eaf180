/** A test message to a receiver, and its answer. */
import { type ReactElement, useEffect } from 'react';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { WebhookTest } from '../../api/types.ts';
import { formatDuration } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button, Failure, Notice } from '../../ui/basics.tsx';
import { Reason } from '../../ui/reason.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Exchange } from '../deliveries/exchange.tsx';

export function TestDialog({
  path,
  onClose,
}: {
  readonly path: `/api/webhooks/${string}`;
  readonly onClose: () => void;
}): ReactElement {
  const words = t.deliveries.tester;
  const test = useAction(() => request('POST', `${path}/test`), { showsError: true });
  const { mutate: send } = test;
  useEffect(() => send(undefined), [send]);
  const result = test.data?.test;
  return (
    <Dialog title={words.title} onClose={onClose} size="large">
      <p className="muted">{words.what}</p>
      <div role="status">
        {test.isPending && <p>{words.sending}</p>}
        {result !== undefined && !test.isPending && (
          <Notice tone={result.isDelivered ? 'good' : 'bad'} title={titleOf(result)}>
            {result.errorMessage !== null && (
              <p>
                <Reason code={result.errorCode} text={result.errorMessage} />
              </p>
            )}
            <p>{words.took(formatDuration(result.durationMs))}</p>
          </Notice>
        )}
      </div>
      <Failure error={test.error} />
      {result !== undefined && !test.isPending && <Exchange attempt={result} isReasonShown />}
      <div className="dialog-actions">
        <Button isBusy={test.isPending} onClick={() => send(undefined)}>
          {words.again}
        </Button>
        <Button variant="primary" onClick={onClose}>
          {t.common.close}
        </Button>
      </div>
    </Dialog>
  );
}

function titleOf({ status, isDelivered }: WebhookTest): string {
  const words = t.deliveries.tester;
  if (status === null) return words.unreachable;
  return isDelivered ? words.taken(status) : words.refused(status);
}
