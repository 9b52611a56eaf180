/** Transfers as rows: running ones with a button to stop them, and finished ones. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { request, segment } from '../../api/client.ts';
import { useConnectionName } from '../../api/names.ts';
import type { Live, Transfer } from '../../api/types.ts';
import { formatBytes, formatDuration, formatSpeed, secondsLeft } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { ActionButton } from '../../ui/actions.tsx';
import type { Bulk } from '../../ui/selection.tsx';
import { actions, Badge, type ButtonProps, type Column, Progress, Time, type Tone } from '../../ui/basics.tsx';
import { Ban, RotateCw } from '../../ui/icons.tsx';
import { Reason } from '../../ui/reason.tsx';
import { MiddleName } from '../../ui/middle-name.tsx';
import { repeat, TryAgain, REPEATED } from './try-again.tsx';
import { titleOf } from './words.ts';

const words = t.transfers;

export function LiveRows({ transfers }: { readonly transfers: readonly Transfer[] }): ReactElement {
  const nameOf = useConnectionName();
  return (
    <ul className="live-rows">
      {transfers.map((transfer) => (
        <LiveRow key={transfer.id} transfer={transfer} connection={nameOf(transfer.connectionId)} />
      ))}
    </ul>
  );
}

function LiveRow({ transfer, connection }: { transfer: Transfer; connection: string }): ReactElement {
  const { id, filename, path, live } = transfer;
  const name = filename === '' ? path : filename;
  return (
    <li className="live-row">
      <div className="live-name">
        <Link href={`/transfers/${id}`}>{titleOf(transfer)}</Link>
        <span className="muted small"> {connection}</span>
      </div>
      {live !== undefined && (
        <>
          <LiveProgress live={live} label={t.words.progressOf(name)} />
          <LiveNumbers live={live} isSmall />
        </>
      )}
      <Cancel id={id} aria-label={t.words.cancelThat(name)}>
        {t.common.cancel}
      </Cancel>
    </li>
  );
}

export function LiveProgress({ live, label }: { readonly live: Live; readonly label: string }): ReactElement {
  return (
    <Progress value={live.totalBytes === null ? undefined : live.bytes} max={live.totalBytes ?? 0} label={label} />
  );
}

export function LiveNumbers({ live, isSmall = false }: { readonly live: Live; readonly isSmall?: boolean }) {
  const { bytes, totalBytes, bytesPerSecond, step } = live;
  const left = secondsLeft(bytes, totalBytes, bytesPerSecond);
  return (
    <div className={isSmall ? 'live-numbers number small' : 'live-numbers number'}>
      <span>{totalBytes === null ? formatBytes(bytes) : t.words.of(formatBytes(bytes), formatBytes(totalBytes))}</span>
      <span>{formatSpeed(bytesPerSecond)}</span>
      <span>{left === undefined ? stageName(step) : t.words.left(formatDuration(left * 1_000))}</span>
    </div>
  );
}

export function stageName(stage: string): string {
  const { names } = words.stages;
  return stage in names ? names[stage as keyof typeof names] : stage;
}

export function Cancel({ id, ...button }: { readonly id: string } & ButtonProps): ReactElement {
  return (
    <ActionButton
      {...button}
      icon={Ban}
      run={() => cancel(id)}
      says={words.cancelling}
      refreshes={['/manage/transfers']}
    />
  );
}

const cancel = (id: string): Promise<unknown> => request('POST', `/manage/transfers/${id}/cancel`);

export const TRANSFER_BULK: Bulk<Transfer> = {
  nameOf: titleOf,
  actions: [
    {
      verb: t.common.tryAgain,
      icon: RotateCw,
      fits: ({ repeatable }) => repeatable,
      run: ({ id }) => repeat(id),
      refreshes: REPEATED,
    },
    {
      verb: t.common.cancel,
      icon: Ban,
      fits: ({ status }) => status === 'pending',
      run: ({ id }) => cancel(id),
      refreshes: ['/manage/transfers'],
    },
  ],
};

const TONES: Readonly<Record<Transfer['status'], Tone>> = { success: 'good', failed: 'bad', pending: 'info' };

export function StatusBadge({ status }: Pick<Transfer, 'status'>): ReactElement {
  return <Badge tone={TONES[status]}>{words.status[status]}</Badge>;
}

export function useTransferColumns(): readonly Column<Transfer>[] {
  const nameOf = useConnectionName();
  return [
    {
      head: t.words.what,
      grow: 32,
      cell: ({ id, type, filename, path }) => (
        <Link href={`/transfers/${id}`} className="worded">
          {words.types[type]} <MiddleName name={filename === '' ? path : filename} />
        </Link>
      ),
    },
    {
      name: 'details',
      head: t.words.details,
      grow: 36,
      cell: ({ status, errorCode, errorMessage, path }) =>
        status === 'failed' && errorMessage !== null ? (
          <span className="bad-text" title={errorMessage}>
            <Reason code={errorCode} text={errorMessage} isShort />
          </span>
        ) : (
          <span className="muted">
            <MiddleName name={path} />
          </span>
        ),
    },
    {
      name: 'connection',
      head: t.words.connection,
      cell: ({ connectionId }) =>
        connectionId === null ? (
          '–'
        ) : (
          <Link href={`/connections/${segment(connectionId)}`} title={connectionId}>
            {nameOf(connectionId)}
          </Link>
        ),
    },
    { name: 'size', head: t.words.size, align: 'end', cell: ({ fileSize }) => formatBytes(fileSize) },
    {
      name: 'duration',
      head: t.words.duration,
      align: 'end',
      cell: ({ durationMs, status }) => (status === 'pending' ? '–' : formatDuration(durationMs)),
    },
    { name: 'status', head: t.words.status, cell: ({ status }) => <StatusBadge status={status} /> },
    { name: 'started', head: t.words.started, cell: ({ createdAt }) => <Time iso={createdAt} form="seconds" /> },
    actions((transfer) =>
      transfer.status === 'pending' ? (
        <Cancel id={transfer.id} aria-label={t.words.cancelThat(titleOf(transfer))}>
          {t.common.cancel}
        </Cancel>
      ) : (
        <TryAgain transfer={transfer} />
      ),
    ),
  ];
}
