/** All deliveries, filtered by the address. Many can be sent again at once. */
import { type ReactElement, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { request, withQuery } from '../api/client.ts';
import { useAction, useRows } from '../api/hooks.ts';
import { useConnections } from '../api/names.ts';
import { formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { showToast } from '../toasts.ts';
import { Button, Notice } from '../ui/basics.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { timeFields, timePresets, useFilters } from '../ui/filters.tsx';
import { RotateCw } from '../ui/icons.tsx';
import { Pager } from '../ui/list.tsx';
import { ListScreen } from '../ui/list-screen.tsx';
import { DELIVERY_BULK, useDeliveryColumns } from './deliveries/rows.tsx';
import { FEED_TYPES } from '../../../contract/derived/event-texts.ts';
import { FILTER_NAMES } from '../../../contract/derived/filter-names.ts';

const PAGE = 50;
const words = t.deliveries;

export default function DeliveriesScreen(): ReactElement {
  const filters = useFilters(FILTER_NAMES.deliveries);
  const { values } = filters;
  const [parameters, setParameters] = useSearchParams();
  const offset = Math.max(0, Math.trunc(Number(parameters.get('offset') ?? 0)) || 0);
  const [isReplaying, setReplaying] = useState(false);
  // Ask for one row more than a page: if it comes, there is another page.
  const path = withQuery('/manage/deliveries', { ...values, limit: PAGE + 1, offset: offset === 0 ? '' : offset });
  const list = useRows(path, 'deliveries', { everyMs: 5_000 });
  const found = list.rows ?? [];
  const columns = useDeliveryColumns();
  const connections = useConnections();
  const folders = useRows('/manage/watched-folders', 'watchedFolders').rows ?? [];
  const webhooks = useRows('/api/webhooks', 'webhooks').rows ?? [];
  const receiver =
    values['watchedFolderId'] !== undefined
      ? `folder ${values['watchedFolderId']}`
      : values['webhookId'] !== undefined
        ? `webhook ${values['webhookId']}`
        : '';
  const goTo = (to: number) => () => setParameters({ ...Object.fromEntries(parameters), offset: String(to) });
  return (
    <ListScreen
      title={t.places.deliveries}
      words={words}
      list={{ ...list, rows: list.rows?.slice(0, PAGE) }}
      columns={columns}
      bulk={DELIVERY_BULK}
      footer={
        <Pager
          back={words.newer}
          next={words.older}
          onBack={offset > 0 ? goTo(offset - PAGE) : undefined}
          onNext={found.length > PAGE ? goTo(offset + PAGE) : undefined}
        />
      }
      actions={
        values['state'] !== undefined &&
        values['state'] !== 'pending' &&
        found.length > 0 && (
          <Button icon={RotateCw} onClick={() => setReplaying(true)}>
            {words.sendAgainMany}
          </Button>
        )
      }
      filters={filters}
      presets={[
        ...timePresets(),
        { name: t.fields.delivery.state.choices.dead, filters: { state: 'dead' } },
        { name: t.fields.delivery.state.choices.pending, filters: { state: 'pending' } },
      ]}
      fields={[
        { name: 'url', label: words.filters.url, kind: 'search', placeholder: 'example.com' },
        { name: 'state', label: t.words.state, options: Object.entries(t.fields.delivery.state.choices) },
        { name: 'type', label: t.words.eventType, options: FEED_TYPES.map((type) => [type, type]) },
        {
          label: t.words.receiver,
          isRare: true,
          value: receiver,
          to: (value) => {
            const [kind, id = ''] = value.split(' ');
            return { watchedFolderId: kind === 'folder' ? id : '', webhookId: kind === 'webhook' ? id : '' };
          },
          options: [
            ...folders
              .filter(({ webhookUrl }) => webhookUrl !== null)
              .map(({ id, name }) => [`folder ${id}`, words.filters.folder(name)] as const),
            ...webhooks.map(({ id, url }) => [`webhook ${id}`, words.filters.webhook(url)] as const),
          ],
        },
        {
          name: 'connectionId',
          label: t.words.connection,
          options: connections.map(({ id, name }) => [id, name]),
        },
        ...timeFields(),
      ]}
    >
      {isReplaying && <Replay filters={values} onClose={() => setReplaying(false)} />}
    </ListScreen>
  );
}

interface Counted {
  readonly count: number;
  readonly isMore: boolean;
}

/** Shows how many deliveries will be sent before sending them. */
function Replay(props: { readonly filters: Readonly<Record<string, string>>; readonly onClose: () => void }) {
  const { filters, onClose } = props;
  const [counted, setCounted] = useState<Counted>();
  const ask = (dryRun: boolean): Promise<Counted> =>
    request('POST', '/manage/deliveries/replay', { ...filters, dryRun });
  const count = useAction(() => ask(true), { showsError: true, onDone: setCounted });
  const send = useAction(() => ask(false), {
    showsError: true,
    refreshes: ['/manage/deliveries', '/manage/receivers', '/manage/overview'],
    onDone: ({ count: sent }) => {
      showToast(words.onTheirWay(formatNumber(sent)));
      onClose();
    },
  });
  const { mutate: countNow } = count;
  useEffect(() => countNow(), [countNow]);
  const n = formatNumber(counted?.count ?? 0);
  return (
    <FormDialog
      title={words.sendAgainTitle}
      verb={counted === undefined ? words.sendAgain : words.send(n)}
      isBusy={send.isPending}
      disabledBecause={counted === undefined ? words.counting : counted.count === 0 && words.noneToSend}
      error={count.error ?? send.error}
      onClose={onClose}
      onSend={() => send.mutate()}
    >
      {counted === undefined ? (
        <p role="status">{words.counting}</p>
      ) : counted.count === 0 ? (
        <p role="status">{words.noneToSend}</p>
      ) : (
        <>
          <p role="status">
            <strong>{words.willBeSent(n, counted.isMore)}</strong>
          </p>
          <p className="muted">{words.sameId}</p>
          {filters['state'] === 'delivered' && <Notice tone="warn">{words.wasTaken}</Notice>}
        </>
      )}
    </FormDialog>
  );
}
