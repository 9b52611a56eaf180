/** The newest deliveries of one receiver, or those given up of all, with the way to all of them. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { withQuery } from '../../api/client.ts';
import { useRead } from '../../api/hooks.ts';
import type { Delivery, EventType } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Pending } from '../../ui/basics.tsx';
import { DeliveryTable } from './rows.tsx';

const SHOWN = 20;

export function Deliveries(props: {
  readonly watchedFolderId?: string;
  readonly webhookId?: string;
  readonly state?: Delivery['state'];
  readonly type?: EventType;
  readonly empty: string;
}): ReactElement {
  const { empty, ...filter } = props;
  const isOfOne = filter.watchedFolderId !== undefined || filter.webhookId !== undefined;
  const path = withQuery('/manage/deliveries', { ...filter, limit: SHOWN });
  const read = useRead<{ deliveries: Delivery[] }>(path, { everyMs: 5_000 });
  if (read.data === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  if (read.data.deliveries.length === 0) return <p className="panel-body muted">{empty}</p>;
  return (
    <>
      <DeliveryTable deliveries={read.data.deliveries} isOfOne={isOfOne} />
      <p className="panel-body">
        <Link href={withQuery('/deliveries', filter)}>{t.deliveries.allDeliveries}</Link>
      </p>
    </>
  );
}
