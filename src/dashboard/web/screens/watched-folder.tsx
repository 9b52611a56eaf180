/** One watched folder: when it is looked at, what was found and why, what became of the messages. */
import * as Ariakit from '@ariakit/react';
import { useState, type ReactElement } from 'react';
import { FlaskConical, Pencil, RefreshCw } from '../ui/icons.tsx';
import { Link, useLocation } from 'wouter';
import { request, withQuery } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { DryRun, ReceiverState, WatchedFolder } from '../api/types.ts';
import { t } from '../texts/texts.ts';
import { formatBytes, formatDuration, formatNumber } from '../format.ts';
import { showToast } from '../toasts.ts';
import {
  Ago,
  Badge,
  Button,
  CodeBlock,
  Countdown,
  Facts,
  Notice,
  Page,
  Panel,
  Pending,
  Table,
  Time,
} from '../ui/basics.tsx';
import { Confirm, Dialog, Menu } from '../ui/dialog.tsx';
import { Checks, countsText, KnownFiles } from './watched/checks.tsx';
import { ReceiverNotice, useReceivers } from './deliveries/health.tsx';
import { Deliveries } from './deliveries/list.tsx';
import { useConnectionNames } from './jobs/rows.tsx';
import { WatchForm } from './watched/watch-form.tsx';
import { StateBadge } from './watched/state.tsx';

const READS = ['/manage/watched-folders'];
const MAX_SHOWN = 500;

export default function WatchedFolderScreen({ id }: { readonly id: string }): ReactElement {
  const path = `/manage/watched-folders/${id}`;
  const read = useRead<WatchedFolder>(path, { everyMs: 5_000 });
  if (read.data === undefined) {
    return (
      <Page title={t.watched.one} lead={<Link href="/watched">{t.watched.title}</Link>}>
        <Panel>
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        </Panel>
      </Page>
    );
  }
  return <Folder folder={read.data} path={path} />;
}

function Folder({ folder, path }: { readonly folder: WatchedFolder; readonly path: string }): ReactElement {
  const { name, isActive, failingSince, errorMessage, failures } = folder;
  const [open, setOpen] = useState<'delete' | 'secret' | 'edit'>();
  const [dryRun, setDryRun] = useState<DryRun>();
  const [, navigate] = useLocation();
  const receiver = useReceivers()({ watchedFolderId: folder.id });
  const check = useAction(() => request<{ queued: boolean }>('POST', `${path}/check`), {
    refreshes: READS,
    onDone: ({ queued }) => showToast(queued ? t.watched.checkSent : t.watched.checkWaits),
  });
  const dry = useAction(() => request<DryRun>('POST', `${path}/dry-run`), { onDone: setDryRun });
  const toggle = useAction(() => request('POST', `${path}/${isActive ? 'pause' : 'resume'}`), {
    says: isActive ? t.watched.nowPaused : t.watched.nowWatching,
    refreshes: READS,
  });
  const testEvent = useAction(() => request<{ eventId: string }>('POST', `${path}/test-event`), {
    refreshes: ['/manage/deliveries'],
    // There its answer is seen as it comes.
    onDone: ({ eventId }) => navigate(`/deliveries/${eventId}`),
  });
  const remove = useAction(() => request('DELETE', path), {
    says: t.watched.stopped(name),
    refreshes: ['/manage/overview'],
    showsError: true,
    onDone: () => navigate('/watched'),
  });
  return (
    <Page
      title={name}
      lead={
        <span className="row">
          <Link href="/watched">{t.watched.title}</Link>
          <StateBadge folder={folder} receiver={receiver} />
        </span>
      }
      actions={
        <>
          <Button
            icon={RefreshCw}
            isBusy={check.isPending}
            disabled={!isActive}
            onClick={() => check.mutate(undefined)}
          >
            {t.watched.checkNow}
          </Button>
          <Button icon={FlaskConical} isBusy={dry.isPending} onClick={() => dry.mutate(undefined)}>
            {t.watched.dryRun}
          </Button>
          <Button icon={Pencil} onClick={() => setOpen('edit')}>
            {t.watched.edit}
          </Button>
          <Menu
            label={t.watched.more}
            entries={[
              { label: isActive ? t.watched.pause : t.watched.resume, onSelect: () => toggle.mutate(undefined) },
              { label: t.watched.secret, onSelect: () => setOpen('secret') },
              {
                label: t.watched.sendTest,
                isDisabled: folder.webhookUrl === null,
                onSelect: () => testEvent.mutate(undefined),
              },
              { label: t.watched.stop, isDanger: true, onSelect: () => setOpen('delete') },
            ]}
          />
        </>
      }
    >
      {failingSince !== null && (
        <Notice tone="bad" title={t.watched.checksFailed(failures, formatNumber(failures))}>
          <p>{errorMessage}</p>
          <p className="small">
            {t.watched.since} <Time iso={failingSince} isLong />
          </p>
        </Notice>
      )}
      {folder.deliveriesEndedAt !== null && (
        <Notice tone="warn" title={t.watched.goneTitle}>
          {t.watched.goneSince} <Time iso={folder.deliveriesEndedAt} isLong />.
        </Notice>
      )}
      <ReceiverNotice receiver={receiver} />
      <Panel>
        <div className="panel-body">
          <FolderFacts folder={folder} receiver={receiver} />
        </div>
      </Panel>
      <Panel>
        <Ariakit.TabProvider defaultSelectedId="checks">
          <Ariakit.TabList className="tabs" aria-label={t.watched.tabs}>
            <Ariakit.Tab id="checks" className="tab">
              {t.watched.checks}
            </Ariakit.Tab>
            <Ariakit.Tab id="files" className="tab">
              {t.watched.knownFiles}
            </Ariakit.Tab>
            <Ariakit.Tab id="deliveries" className="tab">
              {t.deliveries.title}
            </Ariakit.Tab>
          </Ariakit.TabList>
          <Ariakit.TabPanel tabId="checks" unmountOnHide>
            <Checks path={path} />
          </Ariakit.TabPanel>
          <Ariakit.TabPanel tabId="files" unmountOnHide>
            <KnownFiles path={path} />
          </Ariakit.TabPanel>
          <Ariakit.TabPanel tabId="deliveries" unmountOnHide>
            <Deliveries
              watchedFolderId={folder.id}
              empty={folder.webhookUrl === null ? t.watched.noWebhook : t.watched.nothingReported}
            />
          </Ariakit.TabPanel>
        </Ariakit.TabProvider>
      </Panel>
      {dryRun !== undefined && <DryRunResult result={dryRun} onClose={() => setDryRun(undefined)} />}
      {open === 'edit' && <WatchForm former={folder} onClose={() => setOpen(undefined)} />}
      {open === 'secret' && <Secret path={path} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && (
        <Confirm
          title={t.watched.stopTitle(name)}
          verb={t.watched.stopVerb}
          isBusy={remove.isPending}
          error={remove.error}
          onClose={() => setOpen(undefined)}
          onConfirm={() => remove.mutate(undefined)}
        >
          <p>{t.watched.stopText}</p>
        </Confirm>
      )}
    </Page>
  );
}

type Fact = readonly [name: string, value: ReactElement | string];

function FolderFacts({
  folder,
  receiver,
}: {
  readonly folder: WatchedFolder;
  readonly receiver: ReceiverState | undefined;
}): ReactElement {
  const nameOf = useConnectionNames();
  const { connectionId, path, scheduleMinutes, nextCheckAt, isActive, webhookUrl, lastSuccessAt, lastDetectionAt } =
    folder;
  const { facts } = t.watched;
  const ago = (iso: string | null, otherwise: string) => (iso === null ? otherwise : <Ago iso={iso} />);
  return (
    <Facts
      isWide
      items={[
        [
          facts.folder,
          <Link key="f" href={withQuery(`/files/${encodeURIComponent(connectionId)}`, { path })}>
            {nameOf(connectionId)} <span className="mono">{path}</span>
          </Link>,
        ],
        [facts.files, filesOf(folder)],
        [facts.every, scheduleMinutes === 1 ? facts.minute : facts.minutes(formatNumber(scheduleMinutes))],
        [facts.lastCheck, ago(lastSuccessAt, t.watched.noneYet)],
        [
          facts.nextCheck,
          isActive && nextCheckAt !== null ? <Countdown key="n" iso={nextCheckAt} /> : t.watched.paused,
        ],
        [facts.lastFound, ago(lastDetectionAt, t.watched.nothingYet)],
        ...(receiver === undefined
          ? []
          : [[facts.lastDelivered, ago(receiver.lastDeliveredAt, t.watched.nothingYet)] satisfies Fact]),
        [facts.webhook, webhookUrl === null ? facts.none : <span className="mono">{webhookUrl}</span>],
        ...optionsOf(folder, nameOf),
        [
          facts.id,
          <span key="i" className="mono small muted">
            {folder.id}
          </span>,
        ],
      ]}
    />
  );
}

function filesOf({ filePattern, excludePattern, detectModified, recursive }: WatchedFolder): string {
  const { facts } = t.watched;
  return [
    filePattern ?? t.watched.all,
    ...(excludePattern === null ? [] : [facts.not(excludePattern)]),
    detectModified ? facts.newAndChanged : facts.newOnes,
    ...(recursive ? [facts.below] : []),
  ].join(', ');
}

/** What was chosen beyond the usual; each stands there only where it differs from that. */
function optionsOf(folder: WatchedFolder, nameOf: (id: string) => string): readonly Fact[] {
  const { initial, doneFile, minAgeSeconds, afterDelivery, moveTo, expectEveryMinutes, copyTo } = folder;
  const { facts } = t.watched;
  const after = afterDelivery === 'delete' ? facts.deleted : facts.moved(moveTo ?? '');
  return [
    ...(initial === 'report' ? [[facts.initial, facts.initialReports] as const] : []),
    ...(doneFile === null ? [] : [[facts.waitsFor, doneFile] as const]),
    ...(minAgeSeconds === 0 ? [] : [[facts.youngest, formatDuration(minAgeSeconds * 1_000)] as const]),
    ...(copyTo === null ? [] : [[facts.copiedTo, <CopiedTo key="c" copyTo={copyTo} nameOf={nameOf} />] as const]),
    ...(afterDelivery === 'keep' ? [] : [[facts.after, after] as const]),
    ...(expectEveryMinutes === null
      ? []
      : [[facts.alarm, facts.alarmAfter(formatNumber(expectEveryMinutes))] as const]),
  ];
}

function CopiedTo({
  copyTo: { connectionId, path, filename_template, onConflict = 'replace' },
  nameOf,
}: {
  readonly copyTo: NonNullable<WatchedFolder['copyTo']>;
  readonly nameOf: (id: string) => string;
}): ReactElement {
  const { facts, form } = t.watched;
  return (
    <>
      <Link href={withQuery(`/files/${encodeURIComponent(connectionId)}`, { path })}>
        {nameOf(connectionId)} <span className="mono">{path}</span>
      </Link>
      {filename_template !== undefined && `, ${facts.renamed(filename_template)}`}
      {onConflict !== 'replace' && `, ${facts.conflict(form.conflicts[onConflict])}`}
    </>
  );
}

function DryRunResult({ result: { counts, files }, onClose }: { result: DryRun; onClose: () => void }): ReactElement {
  return (
    <Dialog title={t.watched.dry.title} onClose={onClose} size="large">
      <p className="muted">
        {t.watched.dry.lead} {countsText(counts)}
      </p>
      {files.length === 0 ? (
        <Notice>{t.watched.dry.nothing}</Notice>
      ) : (
        <Table
          label={t.watched.dry.table}
          rows={files.slice(0, MAX_SHOWN)}
          rowKey={({ path }) => path}
          columns={[
            { head: t.watched.dry.file, cell: ({ path }) => <span className="mono">{path}</span> },
            { head: t.watched.dry.as, cell: ({ event }) => <Badge tone="info">{t.watched.dry.events[event]}</Badge> },
            { head: t.watched.dry.size, align: 'end', cell: ({ size }) => formatBytes(size) },
          ]}
        />
      )}
    </Dialog>
  );
}

function Secret({ path, onClose }: { readonly path: string; readonly onClose: () => void }): ReactElement {
  const [secret, setSecret] = useState<string>();
  const show = useAction(() => request<{ secret: string }>('GET', `${path}/secret`), {
    onDone: (answer) => setSecret(answer.secret),
  });
  const rotate = useAction(() => request<{ secret: string }>('POST', `${path}/secret/rotate`), {
    says: t.watched.signing.made,
    onDone: (answer) => setSecret(answer.secret),
  });
  return (
    <Dialog title={t.watched.signing.title} onClose={onClose} size="small">
      <p>{t.watched.signing.text}</p>
      {secret !== undefined && <CodeBlock code={secret} label={t.watched.signing.title} />}
      <div className="dialog-actions">
        <Button isBusy={rotate.isPending} onClick={() => rotate.mutate(undefined)}>
          {t.watched.signing.make}
        </Button>
        <Button
          look="primary"
          isBusy={show.isPending}
          disabled={secret !== undefined}
          onClick={() => show.mutate(undefined)}
        >
          {t.watched.signing.show}
        </Button>
      </div>
    </Dialog>
  );
}
