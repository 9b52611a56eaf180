/** The first steps of a new user, ticked when done. */
import type { ReactElement, ReactNode } from 'react';
import { useConnections, useKeys } from '../../api/names.ts';
import type { Account } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { CodeBlock, LinkButton, Panel } from '../../ui/basics.tsx';
import { CircleCheck, KeyRound, Server } from '../../ui/icons.tsx';

const words = t.overview.steps;

export function FirstSteps({ account }: { readonly account: Account }): ReactElement {
  const [first] = useConnections();
  const keys = useKeys();
  const hasConnection = account.connections > 0;
  const line = `curl -H "Authorization: Bearer $FTG_KEY" -F file=@hello.txt ${location.origin}/api/upload/${first?.id ?? 'CONNECTION'}`;
  return (
    <Panel title={words.title}>
      <ol className="panel-body steps-to-start">
        <Step title={words.connection} isDone={hasConnection} text={words.connectionText}>
          <LinkButton href={hasConnection ? '/connections' : '/connections/new'} icon={Server}>
            {hasConnection ? words.seeConnections : words.connection}
          </LinkButton>
        </Step>
        <Step title={words.key} isDone={keys.length > 0} text={words.keyText}>
          <LinkButton href="/keys" icon={KeyRound}>
            {words.keys}
          </LinkButton>
        </Step>
        <Step title={words.file} isDone={account.transfers > 0} text={words.fileText}>
          <CodeBlock code={line} label={words.curl} />
        </Step>
      </ol>
    </Panel>
  );
}

function Step(props: {
  readonly title: string;
  readonly text: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <li className={props.isDone ? 'done' : undefined}>
      <h3>
        {props.isDone && (
          <>
            <CircleCheck aria-hidden size={18} />
            <span className="visually-hidden">{words.done} </span>
          </>
        )}
        {props.title}
      </h3>
      <p className="muted">{props.text}</p>
      {props.children}
    </li>
  );
}
