/** The newest deliveries to one receiver, or all dead letters, with a link to all of them. */
import type { ReactElement } from 'react';
import { withQuery } from '../../api/client.ts';
import { useRows } from '../../api/hooks.ts';
import type { Delivery, EventType } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { LinkButton, Panel } from '../../ui/basics.tsx';
import { List } from '../../ui/list.tsx';
import { Term } from '../../ui/term.tsx';
import { DELIVERY_BULK, useDeliveryColumns } from './rows.tsx';

const SHOWN = 20;

interface Props {
  readonly watchedFolderId?: string;
  readonly webhookId?: string;
  readonly state?: Delivery['state'];
  readonly type?: EventType;
  readonly none: string;
}

export function Deliveries({ none, ...filter }: Props): ReactElement {
  const isOfOne = filter.watchedFolderId !== undefined || filter.webhookId !== undefined;
  const path = withQuery('/manage/deliveries', { ...filter, limit: SHOWN });
  return (
    <List
      list={useRows(path, 'deliveries', { everyMs: 5_000 })}
      label={t.places.deliveries}
      none={none}
      columns={useDeliveryColumns(isOfOne)}
      bulk={DELIVERY_BULK}
      footer={
        <p className="panel-body">
          <LinkButton href={withQuery('/deliveries', filter)} variant="quiet">
            {t.deliveries.allDeliveries}
          </LinkButton>
        </p>
      }
    />
  );
}

export function DeadLetters({ type }: Pick<Props, 'type'>): ReactElement {
  return (
    <Panel title={t.deliveries.deadLetters} actions={<Term of="deadLetter" />}>
      <Deliveries state="dead" type={type} none={t.deliveries.noDead} />
    </Panel>
  );
}
