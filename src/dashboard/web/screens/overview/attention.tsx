/** What needs a person, worst first as the gateway says it, with the act beside it. */
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { ATTENTION } from '../../../../contract/attention.ts';
import { request, segment } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { TestResult, Trouble } from '../../api/types.ts';
import { formatShortTime } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button, LinkButton, Panel } from '../../ui/basics.tsx';
import { CircleCheck, TriangleAlert } from '../../ui/icons.tsx';
import { showToast } from '../../toasts.ts';
import { placeOf, titleOf } from './trouble.ts';

const words = t.overview.attention;
const READS = ['/manage/overview', '/manage/connections', '/manage/watched-folders', '/manage/schedules'];

export function Attention({ items }: { readonly items: readonly Trouble[] }): ReactElement {
  return (
    <Panel title={words.title}>
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
                <div className="muted small">{detailOf(item)}</div>
              </div>
              <Act item={item} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function detailOf({ kind, error, at }: Trouble): string {
  const { facts } = ATTENTION[kind];
  if (at !== null) return (facts === 'dueAt' ? words.due : words.ends)(formatShortTime(at));
  return facts === 'error' ? (error ?? words.unknown) : '';
}

function Act({ item }: { readonly item: Trouble }): ReactElement {
  const { kind, connectionId = '', watchedFolderId = '', scheduleId = '' } = item;
  const test = useAction(() => request<TestResult>('POST', `/manage/connections/${segment(connectionId)}/test`, {}), {
    refreshes: READS,
    onDone: ({ isOk, steps }) => {
      const failed = steps.find(({ status }) => status === 'failed');
      if (isOk) showToast(words.tested);
      else showToast(words.testFailed(failed?.error ?? ''), 'bad');
    },
  });
  const check = useAction(() => request('POST', `/manage/watched-folders/${watchedFolderId}/check`), {
    ...{ refreshes: READS, says: words.checking },
  });
  const start = useAction(() => request('PATCH', `/api/schedules/${scheduleId}`, { isActive: true }), {
    ...{ refreshes: READS, says: words.started },
  });
  switch (kind) {
    case 'connection_failing':
      return (
        <Button isBusy={test.isPending} onClick={() => test.mutate(undefined)}>
          {words.test}
        </Button>
      );
    case 'watched_folder_failing':
      return (
        <Button isBusy={check.isPending} onClick={() => check.mutate(undefined)}>
          {t.words.checkNow}
        </Button>
      );
    case 'schedule_stopped':
      return (
        <Button isBusy={start.isPending} onClick={() => start.mutate(undefined)}>
          {words.startAgain}
        </Button>
      );
    default:
      return <LinkButton href={placeOf(item)}>{words.kinds[kind].open}</LinkButton>;
  }
}
