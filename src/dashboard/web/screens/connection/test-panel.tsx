/** Tests a connection step by step. A failed step shows how to fix it. */
import { useEffect, useState, type ReactElement } from 'react';
import { every } from '../../../../base/every.ts';
import { CircleCheck } from '../../ui/icons.tsx';
import { CircleMinus, CircleX, Play } from '../../ui/later-icons.ts';
import { request, segment } from '../../api/client.ts';
import { refresh, useAction } from '../../api/hooks.ts';
import type { Connection, TestResult, TestStep } from '../../api/types.ts';
import { formatDuration } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button, Facts, Failure, Notice, Panel, Time } from '../../ui/basics.tsx';
import { CheckField } from '../../ui/fields.tsx';
import { Reason } from '../../ui/reason.tsx';
import { Term } from '../../ui/term.tsx';
import { Advice } from './advice.tsx';
import { type ConnectionForm, withPin } from './draft.ts';
import { isSameServer, noteTest, UNSAVED, useTested } from './tested.ts';

const words = t.connection.test;

export function TestPanel({ form, known, input, changes }: ConnectionForm): ReactElement {
  const { draft, isReady: isComplete } = form;
  const [probe, setProbe] = useState(false);
  const id = known?.id ?? UNSAVED;
  const tested = useTested(id);
  const hasChanges = known === undefined || Object.keys(changes).length > 0;
  const isStale = tested?.draft === undefined ? hasChanges : !isSameServer(tested.draft, draft);
  // Without changes the stored connection is tested. Otherwise the form is tested with the stored secrets.
  const test = useAction(
    () =>
      hasChanges
        ? request('POST', '/manage/test-connection', {
            connection: input,
            ...(known === undefined ? {} : { basedOn: known.id }),
            probe,
          })
        : request('POST', `/manage/connections/${segment(id)}/test`, { probe }),
    {
      showsError: true,
      onDone: (result) => {
        noteTest(id, { result, draft: hasChanges ? draft : undefined });
        if (known !== undefined) void refresh('/manage/connections');
      },
    },
  );
  const pin = useAction(
    ({ fingerprint, replace }: { fingerprint: string; replace: boolean }) =>
      request('POST', `/manage/connections/${segment(known?.id ?? '')}/host-keys`, { fingerprint, replace }),
    { says: words.pinned, refreshes: ['/manage/connections'], onDone: () => test.mutate(undefined) },
  );
  const accept = (fingerprint: string, replace: boolean): void => {
    if (known === undefined || known.source === 'configuration') form.set(withPin(draft, fingerprint));
    else pin.mutate({ fingerprint, replace });
  };
  return (
    <Panel title={words.title}>
      <div className="panel-body" aria-live="polite" aria-busy={test.isPending}>
        <p className="muted">{words.lead}</p>
        <CheckField label={words.probe} checked={probe} onCheck={setProbe} />
        <div className="row">
          <Button
            variant={known === undefined ? 'plain' : 'primary'}
            icon={Play}
            isBusy={test.isPending}
            disabledBecause={!isComplete && words.fillFirst}
            onClick={() => test.mutate(undefined)}
          >
            {test.isPending ? words.running : words.run}
          </Button>
          {test.isPending && <Elapsed />}
        </div>
        {!isComplete && <p className="hint">{words.fillFirst}</p>}
        <Failure error={test.error} title={words.couldNotRun} />
        {!test.isPending && tested !== undefined && (
          <>
            {isStale && <p className="hint">{words.stale}</p>}
            <Result result={tested.result} onAccept={accept} canAccept={known?.source !== 'configuration'} />
          </>
        )}
        {!test.isPending && tested === undefined && known !== undefined && known.lastTest !== null && (
          <LastResult test={known.lastTest} />
        )}
      </div>
    </Panel>
  );
}

function nameOf(step: string): string {
  const names: Readonly<Record<string, string>> = words.steps;
  return names[step] ?? step;
}

function Elapsed(): ReactElement {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => every(1_000, () => setSeconds((former) => former + 1)), []);
  return <span className="muted number">{words.seconds(seconds)}</span>;
}

function LastResult({ test }: { readonly test: NonNullable<Connection['lastTest']> }): ReactElement {
  return (
    <Notice
      tone={test.isOk ? 'good' : 'bad'}
      title={test.isOk ? words.lastGood : words.lastFailed(nameOf(test.failedStep ?? ''))}
    >
      {test.error !== null && (
        <p>
          <Reason code={test.errorCode} text={test.error} />
        </p>
      )}
      <span className="small">
        <Time iso={test.testedAt} />
      </span>
    </Notice>
  );
}

function Result(props: {
  readonly result: TestResult;
  readonly canAccept: boolean;
  readonly onAccept: (fingerprint: string, replace: boolean) => void;
}): ReactElement {
  const { result, canAccept, onAccept } = props;
  const { hostKey, certificate } = result;
  return (
    <>
      <Notice tone={result.isOk ? 'good' : 'bad'} title={result.isOk ? words.good : words.failed}>
        <span className="small">{formatDuration(result.durationMs)}</span>
      </Notice>
      <ol className="test-steps">
        {result.steps.map((step, index) => (
          <Step key={`${step.name} ${index}`} step={step} />
        ))}
      </ol>
      {hostKey?.state === 'new' && (
        <Notice title={words.newKey}>
          <p className="mono">{hostKey.fingerprint}</p>
          <p>
            {words.newKeyText} <Term of="fingerprint" />
          </p>
          {canAccept && <Button onClick={() => onAccept(hostKey.fingerprint, false)}>{words.pin}</Button>}
        </Notice>
      )}
      {hostKey?.state === 'mismatch' && (
        <Notice tone="bad" title={words.otherKey}>
          <p className="mono">{hostKey.fingerprint}</p>
          <p>{words.otherKeyText}</p>
          {canAccept && (
            <Button variant="danger" onClick={() => onAccept(hostKey.fingerprint, true)}>
              {words.replaceKey}
            </Button>
          )}
        </Notice>
      )}
      {certificate !== null && (
        <Facts
          of={{
            [words.certificateOf]: certificate.subject,
            [words.issuedBy]: certificate.issuer,
            [words.validUntil]: <Time iso={certificate.validTo} form="long" />,
          }}
        />
      )}
    </>
  );
}

function Step({ step }: { readonly step: TestStep }): ReactElement {
  const { name, status, durationMs, detail, error, code, advice, adviceCode } = step;
  const Icon = status === 'ok' ? CircleCheck : status === 'failed' ? CircleX : CircleMinus;
  return (
    <li className={`test-step ${status}`}>
      <Icon aria-hidden size={18} />
      <div>
        <div className="row spread">
          <strong>{nameOf(name)}</strong>
          <span className="muted small number">
            {status === 'skipped' ? words.notReached : durationMs === undefined ? '' : formatDuration(durationMs)}
          </span>
        </div>
        <span className="visually-hidden">
          {status === 'ok' ? words.stepOk : status === 'failed' ? words.stepFailed : words.stepSkipped}
        </span>
        {detail !== undefined && <p className="muted small mono">{detail}</p>}
        {error !== undefined && (
          <p className="bad-text">
            <Reason code={code} text={error} />
          </p>
        )}
        {advice !== undefined && <Advice code={adviceCode} text={advice} />}
      </div>
    </li>
  );
}
