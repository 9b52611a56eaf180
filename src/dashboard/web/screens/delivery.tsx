/** One delivery: what is sent, each try with what was answered, and sending it again. */
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../api/hooks.ts';
import type { Attempt, DeliveryDetail } from '../api/types.ts';
import { formatDuration, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Badge, Button, CodeBlock, Countdown, Facts, Page, Panel, Pending, Time } from '../ui/basics.tsx';
import { RadioGroup } from '../ui/fields.tsx';
import { RotateCw } from '../ui/icons.tsx';
import { CopyTable } from './deliveries/copies.tsx';
import { Exchange } from './deliveries/exchange.tsx';
import { canReplay, DeliveryState, messageText, Receiver, useReplay } from './deliveries/rows.tsx';
import { useConnectionNames } from './jobs/rows.tsx';

export default function DeliveryScreen({ id }: { readonly id: string }): ReactElement {
  const path = `/manage/deliveries/${encodeURIComponent(id)}`;
  const read = useRead<DeliveryDetail>(path, { everyMs: 3_000 });
  if (read.data === undefined) {
    return (
      <Page title={t.deliveries.one} lead={<Link href="/deliveries">{t.deliveries.title}</Link>}>
        <Panel>
          <Pending error={read.error} onRetry={() => void read.refetch()} />
        </Panel>
      </Page>
    );
  }
  return <One delivery={read.data} path={path} />;
}

function One({ delivery, path }: { readonly delivery: DeliveryDetail; readonly path: string }): ReactElement {
  const replay = useReplay();
  return (
    <Page
      title={messageText(delivery)}
      lead={
        <span className="row">
          <Link href="/deliveries">{t.deliveries.title}</Link>
          <DeliveryState delivery={delivery} />
        </span>
      }
      actions={
        (canReplay(delivery) || replay.isPending) && (
          <Button icon={RotateCw} look="primary" isBusy={replay.isPending} onClick={() => replay.mutate(delivery.id)}>
            {t.deliveries.sendAgain}
          </Button>
        )
      }
    >
      <Panel>
        <div className="panel-body">
          <DeliveryFacts delivery={delivery} />
        </div>
      </Panel>
      <Panel title={t.deliveries.attempts.title}>
        <Attempts path={path} />
      </Panel>
      {delivery.copyState !== 'none' && (
        <Panel title={t.deliveries.copies}>
          <CopyTable id={delivery.id} />
        </Panel>
      )}
      <Panel title={t.deliveries.payload.title}>
        <Payload body={delivery.body} />
      </Panel>
    </Page>
  );
}

function DeliveryFacts({ delivery }: { readonly delivery: DeliveryDetail }): ReactElement {
  const nameOf = useConnectionNames();
  const { url, type, eventId, connectionIds, fileCount, createdAt, deliveredAt, state, nextAttemptAt } = delivery;
  const { afterAction } = delivery;
  const { facts } = t.deliveries;
  return (
    <Facts
      isWide
      items={[
        [facts.receiver, <Receiver key="r" delivery={delivery} />],
        [
          facts.url,
          <span key="u" className="mono">
            {url ?? facts.noUrl}
          </span>,
        ],
        [
          facts.type,
          <span key="t" className="mono">
            {type}
          </span>,
        ],
        [
          'webhook-id',
          <span key="i" className="mono small">
            {eventId}
          </span>,
        ],
        [facts.connections, connectionIds.length === 0 ? facts.none : connectionIds.map(nameOf).join(', ')],
        ...(fileCount > 0 ? [[facts.files, formatNumber(fileCount)] as const] : []),
        [facts.made, <Time key="m" iso={createdAt} isLong />],
        [facts.delivered, deliveredAt === null ? facts.none : <Time key="d" iso={deliveredAt} isLong />],
        ...(state === 'pending' && nextAttemptAt !== null
          ? [[facts.next, <Countdown key="n" iso={nextAttemptAt} />] as const]
          : []),
        ...(afterAction === 'none'
          ? []
          : [[facts.afterwards, afterAction === 'done' ? facts.afterDone : facts.afterPending] as const]),
      ]}
    />
  );
}

function Attempts({ path }: { readonly path: string }): ReactElement {
  const read = useRead<{ attempts: Attempt[] }>(`${path}/attempts`, { everyMs: 3_000 });
  if (read.data === undefined) return <Pending error={read.error} onRetry={() => void read.refetch()} />;
  const { attempts } = read.data;
  if (attempts.length === 0) return <p className="panel-body muted">{t.deliveries.attempts.none}</p>;
  // The last is what is asked for.
  return (
    <div className="attempts">
      {attempts
        .map((attempt, index) => (
          <AttemptRow key={attempt.id} attempt={attempt} number={index + 1} isOpen={index === attempts.length - 1} />
        ))
        .reverse()}
    </div>
  );
}

function AttemptRow(props: { readonly attempt: Attempt; readonly number: number; readonly isOpen: boolean }) {
  const { attempt, number, isOpen } = props;
  const { status, startedAt, durationMs, url } = attempt;
  const [wasOpen] = useState(isOpen);
  const isTaken = status !== null && status >= 200 && status < 300;
  return (
    <details open={wasOpen}>
      <summary>
        <span className="row">
          <strong>{t.deliveries.attempts.number(number)}</strong>
          <Badge tone={isTaken ? 'good' : 'bad'}>{status ?? t.deliveries.attempts.noAnswer}</Badge>
          <Time iso={startedAt} isLong />
          <span className="muted number">{formatDuration(durationMs)}</span>
        </span>
      </summary>
      {url !== null && <p className="mono small muted">POST {url}</p>}
      <Exchange attempt={attempt} />
    </details>
  );
}

function Payload({ body }: { readonly body: string }): ReactElement {
  const [view, setView] = useState<'pretty' | 'raw'>('pretty');
  const words = t.deliveries.payload;
  return (
    <div className="panel-body stack payload">
      <RadioGroup
        label={words.view}
        value={view}
        onValue={setView}
        options={[
          ['pretty', words.pretty],
          ['raw', words.raw],
        ]}
      />
      <CodeBlock code={view === 'raw' ? body : prettyOf(body)} label={words.title} />
      <p className="hint">{words.hint}</p>
    </div>
  );
}

function prettyOf(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
