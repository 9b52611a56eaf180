/** A request to a receiver and its answer: header fields and bodies. */
import type { ReactElement } from 'react';
import type { Attempt, WebhookTest } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { CodeBlock, Facts, Mono, Notice } from '../../ui/basics.tsx';
import { Reason } from '../../ui/reason.tsx';

type Shown = Pick<Attempt, 'status' | 'errorCode' | 'errorMessage' | 'answer' | 'requestHeaders' | 'answerHeaders'>;

interface Props {
  readonly attempt: Shown | WebhookTest;
  /** The reason is already shown above. */
  readonly isReasonShown?: boolean;
}

export function Exchange({ attempt, isReasonShown = false }: Props): ReactElement {
  const { status, errorCode, errorMessage, answer, requestHeaders, answerHeaders } = attempt;
  const words = t.deliveries.attempts;
  return (
    <div className="exchange">
      {errorMessage !== null && !isReasonShown && (
        <Notice tone="bad">
          <Reason code={errorCode} text={errorMessage} />
        </Notice>
      )}
      <section>
        <h3>{words.requestHeaders}</h3>
        <Headers fields={requestHeaders} none={words.notKept} />
      </section>
      {status !== null && (
        <>
          <section>
            <h3>{words.answerHeaders}</h3>
            <Headers fields={answerHeaders} none={words.notKept} />
          </section>
          <section>
            <h3>{words.body}</h3>
            {answer === null || answer === '' ? (
              <p className="muted">{words.noBody}</p>
            ) : (
              <CodeBlock code={answer} label={words.body} />
            )}
          </section>
        </>
      )}
      <p className="hint">
        {words.hidden} {status !== null && words.bodyBound}
      </p>
    </div>
  );
}

function Headers({ fields, none }: { readonly fields: Attempt['requestHeaders']; readonly none: string }) {
  if (fields === null) return <p className="muted">{none}</p>;
  const sorted = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
  return <Facts of={Object.fromEntries(sorted.map(([name, value]) => [name, <Mono>{value}</Mono>]))} />;
}
