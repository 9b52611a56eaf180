/** The problems that need a person, in the gateway's order, each with a link or an action. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { ATTENTION } from '../../../../contract/attention.ts';
import { request } from '../../api/client.ts';
import { useRead } from '../../api/hooks.ts';
import type { Trouble } from '../../api/types.ts';
import { formatShortTime } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { LinkButton, Panel } from '../../ui/basics.tsx';
import { CircleCheck, TriangleAlert } from '../../ui/icons.tsx';
import { Reason } from '../../ui/reason.tsx';
import { TestConnection } from '../../ui/test-connection.tsx';
import { placeOf, titleOf } from './trouble.ts';

const words = t.overview.attention;
const READS = ['/manage/overview', '/manage/connections', '/manage/watched-folders', '/manage/schedules'];

export function Attention({ items }: { readonly items: readonly Trouble[] }): ReactElement {
  const { connections = [] } = useRead('/manage/health').data ?? {};
  const failing = new Set(items.map(({ connectionId }) => connectionId));
  const [first] = connections.flatMap(({ id, downSince }) => (failing.has(id) ? (downSince ?? []) : [])).sort();
  return (
    <Panel
      title={
        items.length === 0
          ? words.fine
          : words.problems(items.length, first === undefined ? '' : formatShortTime(first))
      }
    >
      {items.length === 0 ? (
        <p className="attention-none">
          <CircleCheck aria-hidden size={18} /> {words.none}
        </p>
      ) : (
        <ul className="attention">
          {items.map((item) => (
            <li key={`${item.kind} ${item.text}`} className={item.severity}>
              <TriangleAlert aria-hidden size={16} />
              <div>
                <Link href={placeOf(item)}>{titleOf(item)}</Link>
                <div className="muted small">
                  <Detail item={item} />
                </div>
              </div>
              <Act item={item} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Detail({ item: { kind, error, errorCode, at } }: { readonly item: Trouble }): ReactElement | string {
  const { facts } = ATTENTION[kind];
  if (at !== null) return (facts === 'dueAt' ? words.due : words.ends)(formatShortTime(at));
  if (facts !== 'error') return '';
  return error === null ? words.unknown : <Reason code={errorCode} text={error} />;
}

function Act({ item }: { readonly item: Trouble }): ReactElement {
  const { kind, connectionId = '', watchedFolderId = '', scheduleId = '' } = item;
  switch (kind) {
    case 'connection_failing':
      return <TestConnection id={connectionId}>{words.test}</TestConnection>;
    case 'watched_folder_failing':
      return (
        <ActionButton
          run={() => request('POST', `/manage/watched-folders/${watchedFolderId}/check`)}
          refreshes={READS}
          says={words.checking}
        >
          {t.words.checkNow}
        </ActionButton>
      );
    case 'schedule_stopped':
      return (
        <ActionButton
          run={() => request('PATCH', `/api/schedules/${scheduleId}`, { isActive: true })}
          refreshes={READS}
          says={words.started}
        >
          {words.startAgain}
        </ActionButton>
      );
    default:
      return <LinkButton href={placeOf(item)}>{words.kinds[kind].open}</LinkButton>;
  }
}
