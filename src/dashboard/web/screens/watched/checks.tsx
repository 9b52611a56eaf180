/** The last checks with the reason for every entry, and what the watch remembers of the folder. */
import { type ReactElement, useState } from 'react';
import { request, withQuery } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Check, CheckedEntry, KnownFile } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Badge, Button, Pending, Table, Time, type Tone } from '../../ui/basics.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';

const MAX_SHOWN = 1_000;
const TONES: Readonly<Record<Check['outcome'], Tone>> = { succeeded: 'good', failed: 'bad', skipped: 'warn' };

export function Checks({ path }: { readonly path: string }): ReactElement {
  const read = useRead<{ checks: Check[] }>(`${path}/checks`, { everyMs: 5_000 });
  const [shown, setShown] = useState<Check>();
  if (read.data === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  if (read.data.checks.length === 0) return <p className="panel-body muted">{t.watched.check.none}</p>;
  return (
    <>
      <Table
        label={t.watched.checks}
        rows={read.data.checks}
        rowKey={({ id }) => id}
        columns={[
          { head: t.watched.check.when, cell: ({ startedAt }) => <Time iso={startedAt} form="long" /> },
          {
            head: t.watched.check.outcome,
            cell: ({ outcome }) => <Badge tone={TONES[outcome]}>{t.watched.check.outcomes[outcome]}</Badge>,
          },
          {
            head: t.watched.check.took,
            align: 'end',
            cell: ({ durationMs }) => (durationMs === null ? '–' : formatDuration(durationMs)),
          },
          {
            head: t.watched.check.found,
            cell: ({ errorMessage, counts }) =>
              errorMessage === null ? (
                countsText(counts) || t.watched.check.nothing
              ) : (
                <span className="bad-text">{errorMessage}</span>
              ),
          },
          {
            head: t.watched.check.actions,
            isHeadHidden: true,
            align: 'end',
            cell: (check) =>
              check.outcome === 'succeeded' && (
                <Button onClick={() => setShown(check)}>{t.watched.check.reasons}</Button>
              ),
          },
        ]}
      />
      {shown !== undefined && <Reasons path={`${path}/checks/${shown.id}`} onClose={() => setShown(undefined)} />}
    </>
  );
}

function Reasons({ path, onClose }: { readonly path: string; readonly onClose: () => void }): ReactElement {
  const read = useRead<{ entries: CheckedEntry[] }>(path);
  const entries = read.data?.entries ?? [];
  return (
    <Dialog title={t.watched.check.reasonsTitle} onClose={onClose} size="large">
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : entries.length === 0 ? (
        <p className="muted">{t.watched.check.empty}</p>
      ) : (
        <>
          {entries.length > MAX_SHOWN && (
            <p className="muted">{t.watched.check.first(formatNumber(MAX_SHOWN), formatNumber(entries.length))}</p>
          )}
          <Table
            label={t.watched.check.reasons}
            rows={entries.slice(0, MAX_SHOWN)}
            rowKey={({ path: entry }) => entry}
            columns={[
              { head: t.watched.check.entry, cell: ({ path: entry }) => <span className="mono">{entry}</span> },
              { head: t.watched.check.reason, cell: ({ reason }) => reasonText(reason) },
              {
                head: t.watched.known.size,
                align: 'end',
                cell: ({ size, sizeBefore }) =>
                  size === undefined
                    ? ''
                    : sizeBefore === undefined
                      ? formatBytes(size)
                      : `${formatBytes(sizeBefore)} → ${formatBytes(size)}`,
              },
            ]}
          />
        </>
      )}
    </Dialog>
  );
}

/** Of a reason that this page does not know, its own word. */
function reasonText(reason: string): string {
  const words: Readonly<Record<string, string>> = t.watched.reasons;
  return words[reason] ?? reason.replaceAll('_', ' ');
}

export function countsText(counts: Readonly<Record<string, number>> | null): string {
  return Object.entries(counts ?? {})
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${reasonText(reason)}`)
    .join('; ');
}

const PAGE = 50;

export function KnownFiles({ path }: { readonly path: string }): ReactElement {
  const [after, setAfter] = useState<readonly string[]>([]);
  const [isForgetting, setForgetting] = useState(false);
  const read = useRead<{ files: KnownFile[]; total: number }>(
    withQuery(`${path}/files`, { after: after.at(-1), limit: PAGE }),
  );
  const forget = useAction(
    (one: string | undefined) => request('POST', `${path}/forget`, one === undefined ? {} : { path: one }),
    {
      says: t.watched.known.forgotten,
      refreshes: [path],
      onDone: () => setForgetting(false),
    },
  );
  if (read.data === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  const { files, total } = read.data;
  if (total === 0) return <p className="panel-body muted">{t.watched.known.none}</p>;
  return (
    <>
      <div className="panel-body row spread">
        <span>{t.watched.known.total(formatNumber(total))}</span>
        <Button onClick={() => setForgetting(true)}>{t.watched.known.forgetAll}</Button>
      </div>
      <Table
        label={t.watched.knownFiles}
        rows={files}
        rowKey={(file) => file.path}
        columns={[
          { head: t.watched.known.file, cell: (file) => <span className="mono">{file.path}</span> },
          {
            head: t.watched.known.state,
            cell: ({ state }) =>
              state === 'known' ? (
                t.watched.known.states.known
              ) : (
                <Badge tone="info">{t.watched.known.states[state]}</Badge>
              ),
          },
          { head: t.watched.known.size, align: 'end', cell: ({ size }) => formatBytes(size) },
          {
            head: t.watched.known.changed,
            cell: ({ modifiedAt }) => (modifiedAt === null ? '–' : <Time iso={modifiedAt} />),
          },
          {
            head: t.watched.check.actions,
            isHeadHidden: true,
            align: 'end',
            cell: (file) => (
              <Button
                look="quiet"
                onClick={() => forget.mutate(file.path)}
                aria-label={t.watched.known.forgetOne(file.path)}
              >
                {t.watched.known.forget}
              </Button>
            ),
          },
        ]}
      />
      <div className="panel-body row">
        <Button disabled={after.length === 0} onClick={() => setAfter(after.slice(0, -1))}>
          {t.watched.known.before}
        </Button>
        <Button disabled={files.length < PAGE} onClick={() => setAfter([...after, files.at(-1)?.path ?? ''])}>
          {t.watched.known.next}
        </Button>
      </div>
      {isForgetting && (
        <Confirm
          title={t.watched.known.title}
          verb={t.watched.known.verb}
          isBusy={forget.isPending}
          onClose={() => setForgetting(false)}
          onConfirm={() => forget.mutate(undefined)}
        >
          <p>{t.watched.known.text}</p>
        </Confirm>
      )}
    </>
  );
}
