/** The last checks with a reason for each entry, and the remembered state of the folder. */
import { type ReactElement, useState } from 'react';
import { request, withQuery } from '../../api/client.ts';
import { useAction, useRead, useRows } from '../../api/hooks.ts';
import type { Check, KnownFile } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { ConfirmAction } from '../../ui/form-dialog.tsx';
import { actions, Badge, Button, Loaded, Mono, Time, type Tone } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Reason } from '../../ui/reason.tsx';
import { List, Pager } from '../../ui/list.tsx';

const MAX_SHOWN = 1_000;
const TONES: Readonly<Record<Check['outcome'], Tone>> = { succeeded: 'good', failed: 'bad', skipped: 'warn' };
const words = t.watched;

export type FolderPath = `/manage/watched-folders/${string}`;

export function Checks({ path }: { readonly path: FolderPath }): ReactElement {
  const [shown, setShown] = useState<Check>();
  return (
    <>
      <List
        list={useRows(`${path}/checks`, 'checks', { everyMs: 5_000 })}
        label={words.checks}
        none={t.words.notChecked}
        columns={[
          { head: t.words.when, cell: ({ startedAt }) => <Time iso={startedAt} form="long" /> },
          {
            head: words.check.outcome,
            cell: ({ outcome }) => <Badge tone={TONES[outcome]}>{words.check.outcomes[outcome]}</Badge>,
          },
          {
            head: words.check.took,
            align: 'end',
            cell: ({ durationMs }) => (durationMs === null ? '–' : formatDuration(durationMs)),
          },
          {
            head: words.check.found,
            cell: ({ errorCode, errorMessage, counts }) =>
              errorMessage === null ? (
                countsText(counts) || words.check.nothing
              ) : (
                <span className="bad-text">
                  <Reason code={errorCode} text={errorMessage} isShort />
                </span>
              ),
          },
          actions<Check>(
            (check) =>
              check.outcome === 'succeeded' && <Button onClick={() => setShown(check)}>{words.check.reasons}</Button>,
          ),
        ]}
      />
      {shown !== undefined && <Reasons path={`${path}/checks/${shown.id}`} onClose={() => setShown(undefined)} />}
    </>
  );
}

function Reasons({
  path,
  onClose,
}: {
  readonly path: `${FolderPath}/checks/${string}`;
  readonly onClose: () => void;
}): ReactElement {
  const list = useRows(path, 'entries');
  const found = list.rows?.length ?? 0;
  return (
    <Dialog title={words.check.reasonsTitle} onClose={onClose} size="large">
      {found > MAX_SHOWN && <p className="muted">{words.check.first(formatNumber(MAX_SHOWN), formatNumber(found))}</p>}
      <List
        list={{ ...list, rows: list.rows?.slice(0, MAX_SHOWN) }}
        label={words.check.reasons}
        none={<p className="muted">{words.check.empty}</p>}
        rowKey={(entry) => entry.path}
        columns={[
          { head: words.check.entry, cell: (entry) => <Mono>{entry.path}</Mono> },
          { head: words.check.reason, cell: ({ reason }) => reasonText(reason) },
          {
            head: t.words.size,
            align: 'end',
            cell: ({ size, sizeBefore }) =>
              size !== undefined &&
              (sizeBefore === undefined ? formatBytes(size) : `${formatBytes(sizeBefore)} → ${formatBytes(size)}`),
          },
        ]}
      />
    </Dialog>
  );
}

/** A reason that this page does not know is shown by its code. */
function reasonText(reason: string): string {
  const known: Readonly<Record<string, string>> = words.reasons;
  return known[reason] ?? reason.replaceAll('_', ' ');
}

export function countsText(counts: Readonly<Record<string, number>> | null): string {
  return Object.entries(counts ?? {})
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${reasonText(reason)}`)
    .join('; ');
}

const PAGE = 50;

export function KnownFiles({ path }: { readonly path: FolderPath }): ReactElement {
  const [after, setAfter] = useState<readonly string[]>([]);
  const [isForgetting, setForgetting] = useState(false);
  const read = useRead(withQuery(`${path}/files`, { after: after.at(-1), limit: PAGE }));
  const forget = useAction((one: string) => request('POST', `${path}/forget`, { path: one }), {
    says: words.known.forgotten,
    refreshes: [path],
  });
  return (
    <Loaded of={read}>
      {({ files, total }) => (
        <>
          {total > 0 && (
            <div className="panel-body row spread">
              <span>{words.known.total(formatNumber(total))}</span>
              <Button onClick={() => setForgetting(true)}>{words.known.forgetAll}</Button>
            </div>
          )}
          <List
            list={{ ...read, rows: files }}
            label={words.knownFiles}
            none={total === 0 ? words.known.none : ''}
            rowKey={(file) => file.path}
            columns={[
              { head: t.words.file, cell: (file) => <Mono>{file.path}</Mono> },
              {
                head: t.words.state,
                cell: ({ state }) =>
                  state === 'known' ? words.known.states.known : <Badge tone="info">{words.known.states[state]}</Badge>,
              },
              { head: t.words.size, align: 'end', cell: ({ size }) => formatBytes(size) },
              { head: t.files.changed, cell: ({ modifiedAt }) => <Time iso={modifiedAt} otherwise="–" /> },
              actions<KnownFile>((file) => (
                <Button
                  variant="quiet"
                  onClick={() => forget.mutate(file.path)}
                  aria-label={words.known.forgetOne(file.path)}
                >
                  {words.known.forget}
                </Button>
              )),
            ]}
          />
          <Pager
            back={words.known.before}
            next={words.known.next}
            onBack={after.length > 0 ? () => setAfter(after.slice(0, -1)) : undefined}
            onNext={files.length === PAGE ? () => setAfter([...after, files.at(-1)?.path ?? '']) : undefined}
          />
          {isForgetting && (
            <ConfirmAction
              title={words.known.title}
              verb={words.known.verb}
              run={() => request('POST', `${path}/forget`, {})}
              says={words.known.forgotten}
              refreshes={[path]}
              onClose={() => setForgetting(false)}
            >
              <p>{words.known.text}</p>
            </ConfirmAction>
          )}
        </>
      )}
    </Loaded>
  );
}
