/** The result of each file that is copied before the message is sent. */
import type { ReactElement } from 'react';
import { useRows } from '../../api/hooks.ts';
import { useConnectionName } from '../../api/names.ts';
import type { Copy } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Badge, Mono, type Tone } from '../../ui/basics.tsx';
import { List } from '../../ui/list.tsx';
import { Reason } from '../../ui/reason.tsx';
import { MiddleName } from '../../ui/middle-name.tsx';

const TONES: Readonly<Record<Copy['state'], Tone>> = { waiting: 'info', done: 'good', skipped: 'plain', failed: 'bad' };

export function CopyTable({ id }: { readonly id: string }): ReactElement {
  const nameOf = useConnectionName();
  const { copyColumns: heads } = t.deliveries;
  return (
    <List
      list={useRows(`/manage/deliveries/${id}/copies`, 'copies', { everyMs: 5_000 })}
      label={t.deliveries.copies}
      none=""
      rowKey={({ path }) => path}
      columns={[
        {
          head: t.words.file,
          grow: 30,
          cell: ({ path }) => (
            <Mono>
              <MiddleName name={path} />
            </Mono>
          ),
        },
        {
          head: t.words.state,
          cell: ({ state }) => <Badge tone={TONES[state]}>{t.fields.copy.state.choices[state]}</Badge>,
        },
        {
          head: heads.copy,
          grow: 35,
          cell: ({ connectionId, target }) =>
            target !== null && (
              <>
                {nameOf(connectionId)} <Mono>{target}</Mono>
              </>
            ),
        },
        {
          head: heads.words,
          grow: 35,
          cell: ({ errorCode, errorMessage }) =>
            errorMessage !== null && (
              <span title={errorMessage}>
                <Reason code={errorCode} text={errorMessage} isShort />
              </span>
            ),
        },
      ]}
    />
  );
}
