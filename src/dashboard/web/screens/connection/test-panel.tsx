/** Tries a connection step by step; what fails says what to do about it. */
import { useEffect, useState, type ReactElement } from 'react';
import { CircleCheck, CircleMinus, CircleX, Play } from '../../ui/icons.tsx';
import { request, segment } from '../../api/client.ts';
import { refresh, useAction } from '../../api/hooks.ts';
import type { Connection, ConnectionType, TestResult, TestStep } from '../../api/types.ts';
import { formatDuration } from '../../format.ts';
import { Button, Facts, Failure, Notice, Panel, Time } from '../../ui/basics.tsx';
import { CheckField } from '../../ui/fields.tsx';
import { changesOf, inputOf, type Draft } from './draft.ts';

const STEP_NAMES: Readonly<Record<string, string>> = {
  resolve: 'Look up the name',
  connect: 'Connect',
  host_key: 'Host key',
  certificate: 'Certificate',
  login: 'Log in',
  list: 'List the default folder',
  write: 'Write a small file',
  rename: 'Rename it',
  delete: 'Delete it',
};

export function TestPanel(props: {
  readonly draft: Draft;
  readonly type: ConnectionType;
  readonly known?: Connection | undefined;
  readonly isComplete: boolean;
  /** Accepts a host key where the connection is not kept yet. */
  readonly onPin: (fingerprint: string) => void;
}): ReactElement {
  const { draft, type, known, isComplete, onPin } = props;
  const [probe, setProbe] = useState(false);
  const test = useAction(() => runTest(draft, type, known, probe), {
    showsError: true,
    onDone: () => void (known !== undefined && refresh(`/manage/connections`)),
  });
  const pin = useAction(
    ({ fingerprint, replace }: { fingerprint: string; replace: boolean }) =>
      request('POST', `/manage/connections/${segment(known?.id ?? '')}/host-keys`, { fingerprint, replace }),
    { says: 'Host key pinned', refreshes: ['/manage/connections'], onDone: () => test.mutate(undefined) },
  );
  const accept = (fingerprint: string, replace: boolean): void => {
    if (known === undefined || known.source === 'configuration') onPin(fingerprint);
    else pin.mutate({ fingerprint, replace });
  };
  return (
    <Panel title="Test">
      <div className="panel-body" aria-live="polite" aria-busy={test.isPending}>
        <p className="muted">Logs in as a transfer would, and says for each step what happened.</p>
        <CheckField label="Also write, rename and delete a small file" checked={probe} onCheck={setProbe} />
        <div className="row">
          <Button
            look={known === undefined ? 'plain' : 'primary'}
            icon={Play}
            isBusy={test.isPending}
            disabled={!isComplete}
            onClick={() => test.mutate(undefined)}
          >
            {test.isPending ? 'Testing …' : 'Test the connection'}
          </Button>
          {test.isPending && <Elapsed />}
        </div>
        {!isComplete && <p className="hint">Fill in the required fields first.</p>}
        <Failure error={test.error} title="The test could not run" />
        {!test.isPending && test.data !== undefined && (
          <Result result={test.data} onAccept={accept} canAccept={known?.source !== 'configuration'} />
        )}
        {!test.isPending && test.data === undefined && known !== undefined && known.lastTest !== null && (
          <LastResult test={known.lastTest} />
        )}
      </div>
    </Panel>
  );
}

async function runTest(
  draft: Draft,
  type: ConnectionType,
  known: Connection | undefined,
  probe: boolean,
): Promise<TestResult> {
  if (known !== undefined && Object.keys(changesOf(draft, type, known)).length === 0)
    return request('POST', `/manage/connections/${segment(known.id)}/test`, { probe });
  return request('POST', '/manage/test-connection', {
    connection: inputOf(draft, type, known),
    ...(known === undefined ? {} : { basedOn: known.id }),
    probe,
  });
}

function Elapsed(): ReactElement {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((former) => former + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <span className="muted number">{seconds} s</span>;
}

function LastResult({ test }: { readonly test: NonNullable<Connection['lastTest']> }): ReactElement {
  return (
    <Notice
      tone={test.isOk ? 'good' : 'bad'}
      title={
        test.isOk
          ? 'The last test went well'
          : `The last test failed${!test.failedStep ? '' : ` at “${STEP_NAMES[test.failedStep] ?? test.failedStep}”`}`
      }
    >
      {Boolean(test.error) && <p>{test.error}</p>}
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
      <Notice tone={result.isOk ? 'good' : 'bad'} title={result.isOk ? 'All steps went well' : 'The test failed'}>
        <span className="small">{formatDuration(result.durationMs)}</span>
      </Notice>
      <ol className="test-steps">
        {result.steps.map((step) => (
          <Step key={step.name} step={step} />
        ))}
      </ol>
      {hostKey?.state === 'new' && (
        <Notice title="The server shows a key that is not pinned yet">
          <p className="mono">{hostKey.fingerprint}</p>
          <p>Compare it with what the server's owner tells you. Unpinned, the one seen first is trusted.</p>
          {canAccept && <Button onClick={() => onAccept(hostKey.fingerprint, false)}>Pin this key</Button>}
        </Notice>
      )}
      {hostKey?.state === 'mismatch' && (
        <Notice tone="bad" title="The server shows another key than the pinned one">
          <p className="mono">{hostKey.fingerprint}</p>
          <p>
            Either the server was set up anew, or somebody stands in between. Ask its owner before you accept the key.
          </p>
          {canAccept && (
            <Button look="danger" onClick={() => onAccept(hostKey.fingerprint, true)}>
              Replace the pinned key
            </Button>
          )}
        </Notice>
      )}
      {certificate !== null && (
        <Facts
          items={[
            ['Certificate of', certificate.subject],
            ['Issued by', certificate.issuer],
            ['Valid until', <Time key="t" iso={certificate.validTo} isLong />],
          ]}
        />
      )}
    </>
  );
}

function Step({ step }: { readonly step: TestStep }): ReactElement {
  const { name, status, durationMs, detail, error, advice } = step;
  const Icon = status === 'ok' ? CircleCheck : status === 'failed' ? CircleX : CircleMinus;
  return (
    <li className={`test-step ${status}`}>
      <Icon aria-hidden size={18} />
      <div>
        <div className="row spread">
          <strong>{STEP_NAMES[name] ?? name}</strong>
          <span className="muted small number">
            {status === 'skipped' ? 'not reached' : durationMs === undefined ? '' : formatDuration(durationMs)}
          </span>
        </div>
        <span className="visually-hidden">{status === 'ok' ? 'went well' : status}</span>
        {detail !== undefined && <p className="muted small mono">{detail}</p>}
        {error !== undefined && <p className="bad-text">{error}</p>}
        {advice !== undefined && <p className="advice">{advice}</p>}
      </div>
    </li>
  );
}
