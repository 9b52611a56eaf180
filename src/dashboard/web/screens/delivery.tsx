/** A delivery: the message, each attempt with its answer, and sending it again. */
import { type ReactElement, useState } from 'react';
import { segment } from '../api/client.ts';
import { useRead } from '../api/hooks.ts';
import { useConnectionName } from '../api/names.ts';
import type { Attempt, DeliveryDetail } from '../api/types.ts';
import { formatDuration, formatNumber } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Badge, Button, CodeBlock, Countdown, Facts, Loaded, Mono, Panel, Time } from '../ui/basics.tsx';
import { Detail, DetailPage } from '../ui/detail.tsx';
import { RadioGroup } from '../ui/fields.tsx';
import { RotateCw } from '../ui/icons.tsx';
import { CopyTable } from './deliveries/copies.tsx';
import { Exchange } from './deliveries/exchange.tsx';
import { canReplay, DeliveryState, messageText, Receiver, useReplay } from './deliveries/rows.tsx';

const words = t.deliveries;

export default function DeliveryScreen({ id }: { readonly id: string }): ReactElement {
  const path = `/manage/deliveries/${segment(id)}` as const;
  const read = useRead(path, { everyMs: 3_000 });
  const replay = useReplay();
  const up = ['/deliveries', t.places.deliveries] as const;
  return (
    <Detail of={read} title={words.one} up={up}>
      {(delivery) => (
        <DetailPage
          title={messageText(delivery)}
          up={up}
          state={<DeliveryState delivery={delivery} />}
          actions={
            (canReplay(delivery) || replay.isPending) && (
              <Button
                icon={RotateCw}
                variant="primary"
                isBusy={replay.isPending}
                onClick={() => replay.mutate(delivery.id)}
              >
                {words.sendAgain}
              </Button>
            )
          }
        >
          <Panel isPadded>
            <DeliveryFacts delivery={delivery} />
          </Panel>
          <Panel title={t.words.attempts}>
            <Attempts path={path} />
          </Panel>
          {delivery.copyState !== 'none' && (
            <Panel title={words.copies}>
              <CopyTable id={delivery.id} />
            </Panel>
          )}
          <Panel title={words.payload.title}>
            <Payload body={delivery.body} />
          </Panel>
        </DetailPage>
      )}
    </Detail>
  );
}

function DeliveryFacts({ delivery }: { readonly delivery: DeliveryDetail }): ReactElement {
  const nameOf = useConnectionName();
  const { url, type, eventId, connectionIds, fileCount, createdAt, deliveredAt, state, nextAttemptAt } = delivery;
  const { afterAction } = delivery;
  const { facts } = words;
  const labels = t.fields.delivery;
  return (
    <Facts
      isWide
      of={{
        [t.words.receiver]: <Receiver delivery={delivery} />,
        [t.fields.webhook.url.label]: <Mono>{url ?? facts.noUrl}</Mono>,
        [t.words.eventType]: <Mono>{type}</Mono>,
        'webhook-id': <span className="mono small">{eventId}</span>,
        [t.words.connections]: connectionIds.length === 0 ? facts.none : connectionIds.map(nameOf).join(', '),
        [t.words.files]: fileCount > 0 ? formatNumber(fileCount) : undefined,
        [t.words.created]: <Time iso={createdAt} form="long" />,
        [labels.deliveredAt.label]: <Time iso={deliveredAt} form="long" otherwise={facts.none} />,
        [labels.nextAttemptAt.label]:
          state === 'pending' && nextAttemptAt !== null ? <Countdown iso={nextAttemptAt} /> : undefined,
        [labels.afterAction.label]: afterAction === 'none' ? undefined : labels.afterAction.choices[afterAction],
      }}
    />
  );
}

function Attempts({ path }: { readonly path: `/manage/deliveries/${string}` }): ReactElement {
  const read = useRead(`${path}/attempts`, { everyMs: 3_000 });
  return (
    <Loaded of={read}>
      {({ attempts }) =>
        attempts.length === 0 ? (
          <p className="panel-body muted">{words.attempts.none}</p>
        ) : (
          // The last attempt comes first, since users ask for it.
          <div className="attempts">
            {attempts
              .map((attempt, index) => (
                <AttemptRow
                  key={attempt.id}
                  attempt={attempt}
                  number={index + 1}
                  isOpen={index === attempts.length - 1}
                />
              ))
              .reverse()}
          </div>
        )
      }
    </Loaded>
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
          <strong>{words.attempts.number(number)}</strong>
          <Badge tone={isTaken ? 'good' : 'bad'}>{status ?? words.attempts.noAnswer}</Badge>
          <Time iso={startedAt} form="long" />
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

  return (
    <div className="panel-body stack payload">
      <RadioGroup
        label={words.payload.view}
        value={view}
        onValue={setView}
        options={[
          ['pretty', words.payload.pretty],
          ['raw', words.payload.raw],
        ]}
      />
      <CodeBlock code={view === 'raw' ? body : prettyOf(body)} label={words.payload.title} />
      <p className="hint">{words.payload.hint}</p>
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
