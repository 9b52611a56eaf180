/** All deliveries, filtered by what stands in the address, and many of them sent again. */
import { type ReactElement, useEffect, useState } from 'react';
import { request, withQuery } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { Delivery } from '../api/types.ts';
import { formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Button, Empty, LinkButton, Notice, Page, Panel, Pending } from '../ui/basics.tsx';
import { FormDialog } from '../ui/dialog.tsx';
import { RotateCw } from '../ui/icons.tsx';
import { showToast } from '../toasts.ts';
import { FilterBar, type Filters, useFilters } from './deliveries/filters.tsx';
import { DeliveryTable } from './deliveries/rows.tsx';

const PAGE = 50;

export default function DeliveriesScreen(): ReactElement {
  const [filters, offset, change] = useFilters();
  const [isReplaying, setReplaying] = useState(false);
  // One more than is shown tells whether there is another page.
  const path = withQuery('/manage/deliveries', {
    ...filters,
    limit: PAGE + 1,
    offset: offset === 0 ? undefined : offset,
  });
  const read = useRead<{ deliveries: Delivery[] }>(path, { everyMs: 5_000 });
  const found = read.data?.deliveries ?? [];
  const isFiltered = Object.keys(filters).length > 0;
  const canSend = filters.state !== undefined && filters.state !== 'pending' && found.length > 0;
  return (
    <Page
      isWide
      title={t.deliveries.title}
      lead={t.deliveries.lead}
      actions={
        canSend && (
          <Button icon={RotateCw} onClick={() => setReplaying(true)}>
            {t.deliveries.sendAgainMany}
          </Button>
        )
      }
    >
      <FilterBar filters={filters} onChange={change} />
      <Panel>
        {read.data === undefined ? (
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        ) : found.length > 0 ? (
          <DeliveryTable deliveries={found.slice(0, PAGE)} isOfOne={false} />
        ) : isFiltered ? (
          <Empty
            title={t.deliveries.noneFits}
            action={<LinkButton href="/deliveries">{t.deliveries.showAll}</LinkButton>}
          >
            {t.deliveries.noneFitsText}
          </Empty>
        ) : (
          <Empty title={t.deliveries.none}>{t.deliveries.noneText}</Empty>
        )}
        {(offset > 0 || found.length > PAGE) && (
          <div className="panel-body row">
            <Button disabled={offset === 0} onClick={() => change({}, Math.max(0, offset - PAGE))}>
              {t.deliveries.newer}
            </Button>
            <Button disabled={found.length <= PAGE} onClick={() => change({}, offset + PAGE)}>
              {t.deliveries.older}
            </Button>
          </div>
        )}
      </Panel>
      {isReplaying && <Replay filters={filters} onClose={() => setReplaying(false)} />}
    </Page>
  );
}

interface Counted {
  readonly count: number;
  readonly isMore: boolean;
}

/** Says how many first. */
function Replay({ filters, onClose }: { readonly filters: Filters; readonly onClose: () => void }): ReactElement {
  const [counted, setCounted] = useState<Counted>();
  const ask = (dryRun: boolean): Promise<Counted> =>
    request<Counted>('POST', '/manage/deliveries/replay', { ...filters, dryRun });
  const count = useAction(() => ask(true), { showsError: true, onDone: setCounted });
  const send = useAction(() => ask(false), {
    showsError: true,
    refreshes: ['/manage/deliveries', '/manage/receivers', '/manage/overview'],
    onDone: ({ count: sent }) => {
      showToast(t.deliveries.onTheirWay(formatNumber(sent)));
      onClose();
    },
  });
  const { mutate: countNow } = count;
  useEffect(() => countNow(undefined), [countNow]);
  const n = formatNumber(counted?.count ?? 0);
  return (
    <FormDialog
      title={t.deliveries.sendAgainTitle}
      verb={counted === undefined ? t.deliveries.sendAgain : t.deliveries.send(n)}
      isBusy={send.isPending}
      isReady={counted !== undefined && counted.count > 0}
      error={count.error ?? send.error}
      onClose={onClose}
      onSend={() => send.mutate(undefined)}
    >
      {counted === undefined ? (
        <p role="status">{t.deliveries.counting}</p>
      ) : counted.count === 0 ? (
        <p role="status">{t.deliveries.noneToSend}</p>
      ) : (
        <>
          <p role="status">
            <strong>{t.deliveries.willBeSent(n, counted.isMore)}</strong>
          </p>
          <p className="muted">{t.deliveries.sameId}</p>
          {filters.state === 'delivered' && <Notice tone="warn">{t.deliveries.wasTaken}</Notice>}
        </>
      )}
    </FormDialog>
  );
}
