/** One watched folder: when it is looked at, what was found and why, what became of the messages. */
import * as Ariakit from '@ariakit/react';
import { useState, type ReactElement } from 'react';
import { FlaskConical, RefreshCw } from '../ui/icons.tsx';
import { Link, useLocation } from 'wouter';
import { request } from '../api/client.ts';
import { useAction, useRead } from '../api/hooks.ts';
import type { DryRun, WatchedFolder } from '../api/types.ts';
import { formatBytes, formatDuration, formatNumber } from '../format.ts';
import { showToast } from '../ui/toast.tsx';
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
import { Deliveries } from './watched/deliveries.tsx';
import { WatchForm } from './watched/watch-form.tsx';
import { StateBadge } from './watched-folders.tsx';

const READS = ['/manage/watched-folders'];
const MAX_SHOWN = 500;

export default function WatchedFolderScreen({ id }: { readonly id: string }): ReactElement {
  const path = `/manage/watched-folders/${id}`;
  const read = useRead<WatchedFolder>(path, { everyMs: 5_000 });
  if (read.data === undefined) {
    return (
      <Page title="Watched folder" lead={<Link href="/watched">Watched folders</Link>}>
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
  const check = useAction(() => request<{ queued: boolean }>('POST', `${path}/check`), {
    refreshes: READS,
    onDone: ({ queued }) => showToast(queued ? 'The check is on its way' : 'A check is on its way already'),
  });
  const dry = useAction(() => request<DryRun>('POST', `${path}/dry-run`), { onDone: setDryRun });
  const toggle = useAction(() => request('POST', `${path}/${isActive ? 'pause' : 'resume'}`), {
    says: isActive ? 'Paused' : 'Watching again',
    refreshes: READS,
  });
  const testEvent = useAction(() => request('POST', `${path}/test-event`), {
    says: 'A test message is on its way',
    refreshes: ['/manage/deliveries'],
  });
  const remove = useAction(() => request('DELETE', path), {
    says: `${name} is no longer watched`,
    refreshes: ['/manage/overview'],
    showsError: true,
    onDone: () => navigate('/watched'),
  });
  return (
    <Page
      title={name}
      lead={
        <span className="row">
          <Link href="/watched">Watched folders</Link>
          <StateBadge folder={folder} />
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
            Check now
          </Button>
          <Button icon={FlaskConical} isBusy={dry.isPending} onClick={() => dry.mutate(undefined)}>
            Dry run
          </Button>
          <Menu
            label="More"
            entries={[
              { label: isActive ? 'Pause' : 'Resume', onSelect: () => toggle.mutate(undefined) },
              { label: 'Change …', onSelect: () => setOpen('edit') },
              { label: 'Signing secret …', onSelect: () => setOpen('secret') },
              {
                label: 'Send a test message',
                isDisabled: folder.webhookUrl === null,
                onSelect: () => testEvent.mutate(undefined),
              },
              { label: 'Stop watching …', isDanger: true, onSelect: () => setOpen('delete') },
            ]}
          />
        </>
      }
    >
      {failingSince !== null && (
        <Notice tone="bad" title={`${formatNumber(failures)} checks in a row have failed`}>
          <p>{errorMessage}</p>
          <p className="small">
            Since <Time iso={failingSince} isLong />
          </p>
        </Notice>
      )}
      {folder.deliveriesEndedAt !== null && (
        <Notice tone="warn" title="The webhook answered that it is gone (410)">
          Nothing is sent to it since <Time iso={folder.deliveriesEndedAt} isLong />.
        </Notice>
      )}
      <Panel>
        <div className="panel-body">
          <Facts items={factsOf(folder)} isWide />
        </div>
      </Panel>
      <Panel>
        <Ariakit.TabProvider defaultSelectedId="checks">
          <Ariakit.TabList className="tabs" aria-label="Of this folder">
            <Ariakit.Tab id="checks" className="tab">
              Checks
            </Ariakit.Tab>
            <Ariakit.Tab id="files" className="tab">
              Known files
            </Ariakit.Tab>
            <Ariakit.Tab id="deliveries" className="tab">
              Deliveries
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
              empty={
                folder.webhookUrl === null
                  ? 'There is no webhook; what is found shows in the transfers.'
                  : 'Nothing had to be reported yet.'
              }
            />
          </Ariakit.TabPanel>
        </Ariakit.TabProvider>
      </Panel>
      {dryRun !== undefined && <DryRunResult result={dryRun} onClose={() => setDryRun(undefined)} />}
      {open === 'edit' && <WatchForm former={folder} onClose={() => setOpen(undefined)} />}
      {open === 'secret' && <Secret path={path} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && (
        <Confirm
          title={`Stop watching ${name}?`}
          verb="Stop watching"
          isBusy={remove.isPending}
          error={remove.error}
          onClose={() => setOpen(undefined)}
          onConfirm={() => remove.mutate(undefined)}
        >
          <p>Messages that are not delivered yet are dropped. The files stay.</p>
        </Confirm>
      )}
    </Page>
  );
}

function factsOf(folder: WatchedFolder): readonly (readonly [string, ReactElement | string])[] {
  const { connectionId, path, scheduleMinutes, nextCheckAt, isActive, webhookUrl, lastSuccessAt, lastDetectionAt } =
    folder;
  return [
    [
      'Folder',
      <Link key="f" href={`/files/${encodeURIComponent(connectionId)}?path=${encodeURIComponent(path)}`}>
        {connectionId}:{path}
      </Link>,
    ],
    ['Files', filesOf(folder)],
    ['Next check', isActive && nextCheckAt !== null ? <Countdown key="n" iso={nextCheckAt} /> : 'paused'],
    ['Every', scheduleMinutes === 1 ? 'minute' : `${scheduleMinutes} minutes`],
    ['Last good check', lastSuccessAt === null ? 'none yet' : <Ago key="l" iso={lastSuccessAt} />],
    ['Last found', lastDetectionAt === null ? 'nothing yet' : <Ago key="d" iso={lastDetectionAt} />],
    [
      'Webhook',
      webhookUrl === null ? (
        'none'
      ) : (
        <span key="w" className="mono">
          {webhookUrl}
        </span>
      ),
    ],
    ...optionsOf(folder),
  ];
}

function filesOf({ filePattern, excludePattern, detectModified, recursive }: WatchedFolder): string {
  return [
    filePattern ?? 'all',
    ...(excludePattern === null ? [] : [`not ${excludePattern}`]),
    detectModified ? 'new and changed ones' : 'new ones',
    ...(recursive ? ['folders below too'] : []),
  ].join(', ');
}

/** What was chosen beyond the usual; each stands there only where it differs from that. */
function optionsOf(folder: WatchedFolder): readonly (readonly [string, string])[] {
  const { initial, doneFile, minAgeSeconds, afterDelivery, moveTo, expectEveryMinutes, copyTo } = folder;
  const after = afterDelivery === 'delete' ? 'the file is deleted' : `the file is moved to ${moveTo ?? ''}`;
  return [
    ...(initial === 'report' ? [['First check', 'reports what is there'] as const] : []),
    ...(doneFile === null ? [] : [['Waits for', doneFile] as const]),
    ...(minAgeSeconds === 0 ? [] : [['Youngest age', formatDuration(minAgeSeconds * 1_000)] as const]),
    ...(copyTo === null ? [] : [['Copied to', copiedTo(copyTo)] as const]),
    ...(afterDelivery === 'keep' ? [] : [['Once delivered', after] as const]),
    ...(expectEveryMinutes === null
      ? []
      : [['Alarm', `when no file comes for ${expectEveryMinutes} minutes`] as const]),
  ];
}

function copiedTo({ connectionId, path, filename_template, onConflict }: NonNullable<WatchedFolder['copyTo']>): string {
  return [
    `${connectionId}:${path}`,
    ...(filename_template === undefined ? [] : [`as ${filename_template}`]),
    ...(onConflict === undefined || onConflict === 'replace' ? [] : [`of a file that is there: ${onConflict}`]),
  ].join(', ');
}

function DryRunResult({ result: { counts, files }, onClose }: { result: DryRun; onClose: () => void }): ReactElement {
  return (
    <Dialog title="What a check would report now" onClose={onClose} size="large">
      <p className="muted">Nothing was written or sent. {countsText(counts)}</p>
      {files.length === 0 ? (
        <Notice>A check now would report nothing.</Notice>
      ) : (
        <Table
          label="Files that would be reported"
          rows={files.slice(0, MAX_SHOWN)}
          rowKey={({ path }) => path}
          columns={[
            { head: 'File', cell: ({ path }) => <span className="mono">{path}</span> },
            { head: 'As', cell: ({ event }) => <Badge tone="info">{event}</Badge> },
            { head: 'Size', align: 'end', cell: ({ size }) => formatBytes(size) },
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
    says: 'A new secret signs from now on',
    onDone: (answer) => setSecret(answer.secret),
  });
  return (
    <Dialog title="Signing secret" onClose={onClose} size="small">
      <p>
        The receiver checks each message with it, as Standard Webhooks describe. After a change the former one signs
        along for 24 hours.
      </p>
      {secret !== undefined && <CodeBlock code={secret} label="Signing secret" />}
      <div className="dialog-actions">
        <Button isBusy={rotate.isPending} onClick={() => rotate.mutate(undefined)}>
          Make a new one
        </Button>
        <Button
          look="primary"
          isBusy={show.isPending}
          disabled={secret !== undefined}
          onClick={() => show.mutate(undefined)}
        >
          Show it
        </Button>
      </div>
    </Dialog>
  );
}
