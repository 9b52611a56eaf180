/** What has failed: the cause in words, the server's own words, the remedy, and buttons for the next step. */
import type { ReactElement, ReactNode } from 'react';
import { FIXED_AT_CONNECTION, FIXED_BY_PLAN } from '../../../contract/derived/error-lists.ts';
import { segment } from '../api/client.ts';
import { t } from '../texts/texts.ts';
import { Badge, CopyButton, LinkButton, Notice } from './basics.tsx';
import { useMeaning } from './reason.tsx';
import { TestConnection } from './test-connection.tsx';

const { trouble: words } = t.common;
const OF_CONNECTION: ReadonlySet<string> = new Set(FIXED_AT_CONNECTION);
const OF_PLAN: ReadonlySet<string> = new Set(FIXED_BY_PLAN);

export function Trouble(props: {
  /** Absent: the meaning of the error. */
  readonly title?: string;
  readonly code: string | null;
  readonly text: string | null;
  /** The connection that may be the cause. */
  readonly connectionId?: string | null;
  readonly isAlert?: boolean;
  /** Buttons before those that follow from the error. */
  readonly children?: ReactNode;
}): ReactElement {
  const { code, text, connectionId = null, isAlert = false, children } = props;
  const { meaning, remedy } = useMeaning(code).known ?? {};
  return (
    <Notice tone="bad" title={props.title ?? meaning ?? t.transfers.status.failed} isAlert={isAlert}>
      <div className="stack tight">
        {props.title !== undefined && meaning !== undefined && <p>{meaning}</p>}
        <pre className="words" lang={text === null ? undefined : 'en'}>
          {text ?? t.common.noReason}
        </pre>
        <div className="row">
          {code !== null && <Badge tone="bad">{code}</Badge>}
          {text !== null && <CopyButton text={text} label={t.common.copyMessage} variant="quiet" />}
        </div>
        {remedy !== undefined && (
          <p>
            <strong>{words.remedy}</strong> {remedy}
          </p>
        )}
        <div className="row">
          {children}
          {connectionId !== null && OF_CONNECTION.has(code ?? '') && <ConnectionSteps id={connectionId} />}
          {OF_PLAN.has(code ?? '') && <LinkButton href="/usage">{t.words.seeUsage}</LinkButton>}
        </div>
      </div>
    </Notice>
  );
}

export function ConnectionSteps({ id }: { readonly id: string }): ReactElement {
  return (
    <>
      <TestConnection id={id}>{words.test}</TestConnection>
      <LinkButton href={`/connections/${segment(id)}`}>{words.openConnection}</LinkButton>
    </>
  );
}
