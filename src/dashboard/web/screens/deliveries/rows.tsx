/** Deliveries as rows, with a link to each and a button that sends it again. */
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import { request } from '../../api/client.ts';
import { useAction, useRows } from '../../api/hooks.ts';
import type { Delivery } from '../../api/types.ts';
import { formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { actions, Badge, Button, type Column, Countdown, Mono, Time, Titled, type Tone } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { RotateCw } from '../../ui/icons.tsx';
import { MiddleName } from '../../ui/middle-name.tsx';
import type { Bulk } from '../../ui/selection.tsx';
import { CopyTable } from './copies.tsx';

const words = t.deliveries;

const TONES: Readonly<Record<Delivery['state'], Tone>> = {
  pending: 'info',
  delivered: 'good',
  dead: 'bad',
  cancelled: 'plain',
};

/** @param isOfOne all deliveries go to one receiver, which the screen names above them */
export function useDeliveryColumns(isOfOne = false): readonly Column<Delivery>[] {
  const replay = useReplay();
  const { columns } = words;
  const all: readonly Column<Delivery>[] = [
    {
      head: columns.message,
      grow: 26,
      cell: (delivery) => (
        <Link href={`/deliveries/${delivery.id}`} aria-label={words.open(messageText(delivery))}>
          {messageText(delivery)}
        </Link>
      ),
    },
    {
      name: 'to',
      head: columns.to,
      grow: 45,
      cell: (delivery) => (
        <Titled top={<Receiver delivery={delivery} />}>
          {delivery.webhookId === null && delivery.url !== null && <Mono>{delivery.url}</Mono>}
        </Titled>
      ),
    },
    {
      name: 'state',
      head: t.words.state,
      cell: (delivery) => (
        <span className="row">
          <DeliveryState delivery={delivery} />
          {delivery.copyState !== 'none' && <Copies delivery={delivery} />}
        </span>
      ),
    },
    { name: 'attempts', head: t.words.attempts, align: 'end', cell: ({ attempts }) => formatNumber(attempts) },
    { name: 'created', head: t.words.created, cell: ({ createdAt }) => <Time iso={createdAt} /> },
    actions(
      (delivery) =>
        canReplay(delivery) && (
          <Button
            icon={RotateCw}
            isBusy={replay.isPending && replay.variables === delivery.id}
            onClick={() => replay.mutate(delivery.id)}
          >
            {words.sendAgain}
          </Button>
        ),
    ),
  ];
  return all.filter(({ head }) => !isOfOne || head !== columns.to);
}

function Copies({ delivery: { id, copiesFailed } }: { readonly delivery: Delivery }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="quiet" onClick={() => setOpen(true)} aria-label={words.copiesOf(id)}>
        {copiesFailed === 0 ? words.copies : words.notCopied(formatNumber(copiesFailed))}
      </Button>
      {isOpen && (
        <Dialog title={words.copies} onClose={() => setOpen(false)} size="large">
          <CopyTable id={id} />
        </Dialog>
      )}
    </>
  );
}

const replayOne = (id: string): Promise<unknown> => request('POST', `/manage/deliveries/${id}/replay`);
const READS = ['/manage/deliveries', '/manage/receivers', '/manage/overview'];

export function useReplay() {
  return useAction(replayOne, { says: words.sentAgain, refreshes: READS });
}

export const DELIVERY_BULK: Bulk<Delivery> = {
  nameOf: messageText,
  actions: [
    {
      verb: words.sendAgain,
      icon: RotateCw,
      fits: canReplay,
      run: ({ id }) => replayOne(id),
      refreshes: READS,
    },
  ],
};

/** A delivery without a receiver was never sent. */
export function canReplay({ state, attempts, url }: Delivery): boolean {
  return url !== null && (state === 'dead' || (state === 'delivered' && attempts > 0));
}

export function DeliveryState({ delivery }: { readonly delivery: Delivery }): ReactElement {
  const { state, copyState, nextAttemptAt } = delivery;
  if (state === 'pending' && copyState === 'pending') return <Badge tone="info">{words.copying}</Badge>;
  return (
    <>
      <Badge tone={TONES[state]}>{t.fields.delivery.state.choices[state]}</Badge>
      {state === 'pending' && nextAttemptAt !== null && (
        <span className="small muted">
          {words.nextTry} <Countdown iso={nextAttemptAt} />
        </span>
      )}
    </>
  );
}

export function messageText({ type, fileCount, webhookId }: Delivery): string {
  if (type === 'watched_folder.files_missing') return words.noFile;
  if (type === 'watched_folder.test') return words.test;
  if (webhookId !== null || type === 'job.finished') return type;
  return t.words.fileCount(fileCount, formatNumber(fileCount));
}

/** Without the login, and long enough to distinguish two webhooks on one host. */
function addressOf({ host, pathname, search }: URL): string {
  return host + (pathname === '/' ? '' : pathname) + search;
}

/** The owner of the receiver, by name once it is known. */
export function Receiver({ delivery }: { readonly delivery: Delivery }): ReactElement {
  const { watchedFolderId, webhookId, jobId } = delivery;
  const folders = useRows('/manage/watched-folders', 'watchedFolders').rows;
  const webhooks = useRows('/api/webhooks', 'webhooks').rows;
  if (webhookId !== null) {
    const url = webhooks?.find(({ id }) => id === webhookId)?.url ?? '';
    return (
      <Link href={`/webhooks/${webhookId}`}>
        {URL.canParse(url) ? <MiddleName name={addressOf(new URL(url))} /> : words.aWebhook}
      </Link>
    );
  }
  if (watchedFolderId !== null) {
    const name = folders?.find(({ id }) => id === watchedFolderId)?.name;
    return <Link href={`/watched/${watchedFolderId}`}>{name ?? words.aFolder}</Link>;
  }
  return <Link href={`/jobs/${jobId ?? ''}`}>{words.aJob}</Link>;
}
