/** A watched folder: its checks, the reported files with reasons, and the deliveries. */
import { useState, type ReactElement } from 'react';
import { useLocation } from 'wouter';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import { useConnectionName } from '../api/names.ts';
import type { DryRun, ReceiverState, WatchedFolder } from '../api/types.ts';
import { formatBytes, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { showToast } from '../toasts.ts';
import { ActionButton } from '../ui/actions.tsx';
import { ConfirmAction } from '../ui/form-dialog.tsx';
import { Ago, Badge, Button, CodeBlock, Countdown, Facts, Mono, Notice, Panel, Table, Time } from '../ui/basics.tsx';
import { Detail, DetailPage } from '../ui/detail.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Menu } from '../ui/menu.tsx';
import { Reason } from '../ui/reason.tsx';
import { otherFacts } from '../ui/field-facts.ts';
import { RefreshCw } from '../ui/icons.tsx';
import { FlaskConical, Pencil } from '../ui/later-icons.ts';
import { ReceiverNotice, useReceivers } from './deliveries/health.tsx';
import { Deliveries } from './deliveries/list.tsx';
import { FolderLink } from './jobs/facts.tsx';
import { Checks, countsText, type FolderPath, KnownFiles } from './watched/checks.tsx';
import { StateBadge } from './watched/state.tsx';
import { WatchForm } from './watched/watch-form.tsx';

const READS = ['/manage/watched-folders'];
const MAX_SHOWN = 500;
const words = t.watched;
const UP = ['/watched', t.places.watched] as const;

export default function WatchedFolderScreen({ id }: { readonly id: string }): ReactElement {
  const path = `/manage/watched-folders/${id}` as const;
  const read = useRead(path, { everyMs: 5_000 });
  return (
    <Detail of={read} title={words.one} up={UP}>
      {(folder) => <Folder folder={folder} path={path} />}
    </Detail>
  );
}

function Folder({ folder, path }: { readonly folder: WatchedFolder; readonly path: FolderPath }): ReactElement {
  const { id, name, isActive, failingSince, errorCode, errorMessage, failures, deliveriesEndedAt, webhookUrl } = folder;
  const [open, setOpen] = useState<'delete' | 'secret' | 'edit'>();
  const close = (): void => setOpen(undefined);
  const [dryRun, setDryRun] = useState<DryRun>();
  const [, navigate] = useLocation();
  const receiver = useReceivers()({ watchedFolderId: id });
  const toggle = useAction(() => request('POST', `${path}/${isActive ? 'pause' : 'resume'}`), {
    says: isActive ? t.words.paused : words.nowWatching,
    refreshes: READS,
  });
  const testEvent = useAction(() => request('POST', `${path}/test-event`), {
    refreshes: ['/manage/deliveries'],
    // The delivery's screen shows the answer as it arrives.
    onDone: ({ eventId }) => navigate(`/deliveries/${eventId}`),
  });
  return (
    <DetailPage
      title={name}
      up={UP}
      state={<StateBadge folder={folder} receiver={receiver} />}
      actions={
        <>
          <ActionButton
            icon={RefreshCw}
            disabledBecause={!isActive && words.resumeFirst}
            run={() => request('POST', `${path}/check`)}
            refreshes={READS}
            onDone={({ queued }) => showToast(queued ? words.checkSent : words.checkWaits)}
          >
            {t.words.checkNow}
          </ActionButton>
          <ActionButton icon={FlaskConical} run={() => request('POST', `${path}/dry-run`)} onDone={setDryRun}>
            {t.words.dryRun}
          </ActionButton>
          <Button icon={Pencil} onClick={() => setOpen('edit')}>
            {t.words.edit}
          </Button>
          <Menu
            label={t.common.more}
            entries={[
              { label: isActive ? t.words.pause : t.words.resume, onSelect: () => toggle.mutate() },
              { label: words.secret, onSelect: () => setOpen('secret') },
              {
                label: t.words.sendTest,
                disabledBecause: webhookUrl === null && words.noWebhook,
                onSelect: () => testEvent.mutate(),
              },
              { label: words.stop, isDanger: true, onSelect: () => setOpen('delete') },
            ]}
          />
        </>
      }
    >
      {failingSince !== null && (
        <Notice tone="bad" title={words.checksFailed(failures, formatNumber(failures))}>
          <p>
            <Reason code={errorCode} text={errorMessage} />
          </p>
          <p className="small">
            {t.words.since} <Time iso={failingSince} form="long" />
          </p>
        </Notice>
      )}
      {deliveriesEndedAt !== null && (
        <Notice tone="warn" title={words.goneTitle}>
          {t.words.nothingSentSince} <Time iso={deliveriesEndedAt} form="long" />.
        </Notice>
      )}
      <ReceiverNotice receiver={receiver} />
      <Panel isPadded>
        <FolderFacts folder={folder} receiver={receiver} />
      </Panel>
      <Tabs
        label={words.tabs}
        tabs={[
          [words.checks, <Checks path={path} />],
          [words.knownFiles, <KnownFiles path={path} />],
          [
            t.places.deliveries,
            <Deliveries watchedFolderId={id} none={webhookUrl === null ? words.noWebhook : words.nothingReported} />,
          ],
        ]}
      />
      {dryRun !== undefined && <DryRunResult result={dryRun} onClose={() => setDryRun(undefined)} />}
      {open === 'edit' && <WatchForm former={folder} onClose={close} />}
      {open === 'secret' && <Secret path={path} onClose={close} />}
      {open === 'delete' && (
        <ConfirmAction
          title={words.stopTitle(name)}
          verb={words.stopVerb}
          run={() => request('DELETE', path)}
          says={words.stopped(name)}
          refreshes={['/manage/overview']}
          onDone={() => navigate('/watched')}
          onClose={close}
        >
          <p>{words.stopText}</p>
        </ConfirmAction>
      )}
    </DetailPage>
  );
}

const SHOWN_FIELDS = [
  ...['connectionId', 'path', 'name', 'filePattern', 'excludePattern', 'detectModified', 'recursive', 'webhookUrl'],
  ...['scheduleMinutes', 'copyTo'],
];

function FolderFacts(props: { readonly folder: WatchedFolder; readonly receiver: ReceiverState | undefined }) {
  const { folder, receiver } = props;
  const nameOf = useConnectionName();
  const { connectionId, path, scheduleMinutes, nextCheckAt, isActive, webhookUrl, lastSuccessAt } = folder;
  const { lastDetectionAt, copyTo } = folder;
  const { facts } = words;
  return (
    <Facts
      isWide
      of={{
        [t.fields.watchedFolder.path.label]: <FolderLink connectionId={connectionId} path={path} nameOf={nameOf} />,
        [t.words.files]: filesOf(folder),
        [t.words.every]: scheduleMinutes === 1 ? facts.minute : t.words.minutes(formatNumber(scheduleMinutes)),
        [facts.lastCheck]: <Ago iso={lastSuccessAt} otherwise={words.noneYet} />,
        [t.words.nextCheck]: isActive && nextCheckAt !== null ? <Countdown iso={nextCheckAt} /> : words.paused,
        [t.words.lastFound]: <Ago iso={lastDetectionAt} otherwise={t.words.nothingYet} />,
        [t.words.lastDelivered]: receiver && <Ago iso={receiver.lastDeliveredAt} otherwise={t.words.nothingYet} />,
        [t.words.webhook]: webhookUrl === null ? facts.none : <Mono>{webhookUrl}</Mono>,
        [facts.copiedTo]: copyTo === null ? undefined : <CopiedTo copyTo={copyTo} nameOf={nameOf} />,
        ...otherFacts('watchedFolder', folder, SHOWN_FIELDS),
        [t.words.id]: <span className="mono small muted">{folder.id}</span>,
      }}
    />
  );
}

function filesOf({ filePattern, excludePattern, detectModified, recursive }: WatchedFolder): string {
  const { facts } = words;
  return [
    filePattern ?? words.all,
    ...(excludePattern === null ? [] : [facts.not(excludePattern)]),
    detectModified ? facts.newAndChanged : facts.newOnes,
    ...(recursive ? [facts.below] : []),
  ].join(', ');
}

function CopiedTo(props: {
  readonly copyTo: NonNullable<WatchedFolder['copyTo']>;
  readonly nameOf: (id: string) => string;
}): ReactElement {
  const { connectionId, path, filename_template, onConflict = 'replace' } = props.copyTo;
  const { facts } = words;
  return (
    <>
      <FolderLink connectionId={connectionId} path={path} nameOf={props.nameOf} />
      {filename_template !== undefined && `, ${facts.renamed(filename_template)}`}
      {onConflict !== 'replace' &&
        `, ${facts.conflict(t.fields.watchedFolder.copyTo.parts.onConflict.choices[onConflict])}`}
    </>
  );
}

function DryRunResult({ result: { counts, files }, onClose }: { result: DryRun; onClose: () => void }): ReactElement {
  return (
    <Dialog title={words.dry.title} onClose={onClose} size="large">
      <p className="muted">
        {words.dry.lead} {countsText(counts)}
      </p>
      {files.length === 0 ? (
        <Notice>{words.dry.nothing}</Notice>
      ) : (
        <Table
          label={words.dry.table}
          rows={files.slice(0, MAX_SHOWN)}
          rowKey={({ path }) => path}
          columns={[
            { head: t.words.file, cell: ({ path }) => <Mono>{path}</Mono> },
            { head: words.dry.as, cell: ({ event }) => <Badge tone="info">{words.dry.events[event]}</Badge> },
            { head: t.words.size, align: 'end', cell: ({ size }) => formatBytes(size) },
          ]}
        />
      )}
    </Dialog>
  );
}

function Secret({ path, onClose }: { readonly path: FolderPath; readonly onClose: () => void }): ReactElement {
  const [secret, setSecret] = useState<string>();
  const onDone = (answer: { secret: string }): void => setSecret(answer.secret);
  return (
    <Dialog title={words.signing.title} onClose={onClose} size="small">
      <p>{words.signing.text}</p>
      {secret !== undefined && <CodeBlock code={secret} label={words.signing.title} />}
      <div className="dialog-actions">
        <ActionButton run={() => request('POST', `${path}/secret/rotate`)} says={words.signing.made} onDone={onDone}>
          {words.signing.make}
        </ActionButton>
        <ActionButton
          variant="primary"
          disabledBecause={secret !== undefined && words.signing.shown}
          run={() => request('GET', `${path}/secret`)}
          onDone={onDone}
        >
          {words.signing.show}
        </ActionButton>
      </div>
    </Dialog>
  );
}
