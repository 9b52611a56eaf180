/** The keys of an SFTP login: host keys of the server, and key pairs whose private half never leaves the gateway. */
import { KeyRound } from '../../ui/icons.tsx';
import { Plus, Trash2 } from '../../ui/later-icons.ts';
import { type ReactElement, useState } from 'react';
import { request, segment } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Connection } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { Badge, Button, CodeBlock, Failure, Notice, Panel } from '../../ui/basics.tsx';
import { ChoiceField, TextField } from '../../ui/fields.tsx';
import { Term } from '../../ui/term.tsx';

const words = t.connection.keys;

export function HostKeys({ connection, isOwned }: { connection: Connection; isOwned: boolean }): ReactElement {
  const { id, hostKeys = [], hostKeysLearned = false, hostCa = [] } = connection;
  const path = `/manage/connections/${segment(id)}/host-keys` as const;
  const scan = useAction(() => request('POST', `${path}/scan`));
  const pin = useAction((fingerprint: string) => request('POST', path, { fingerprint }), {
    says: t.connection.test.pinned,
    refreshes: ['/manage/connections'],
  });
  return (
    <Panel title={words.title} actions={<Term of="hostKey" />}>
      <div className="panel-body">
        {hostKeys.length === 0 ? (
          <p className="muted">{hostCa.length > 0 ? words.certified : words.none}</p>
        ) : (
          <ul className="stack tight">
            {hostKeys.map((key) => (
              <li key={key} className="row">
                <span className="mono">{key}</span>
                <Badge>{hostKeysLearned ? words.learned : words.pinned}</Badge>
              </li>
            ))}
          </ul>
        )}
        <div className="row">
          <Button isBusy={scan.isPending} onClick={() => scan.mutate(undefined)}>
            {words.look}
          </Button>
          {hostKeys.length > 0 && !isOwned && (
            <ActionButton
              run={() => request('DELETE', path)}
              says={words.forgotten}
              refreshes={['/manage/connections']}
            >
              {words.forget}
            </ActionButton>
          )}
        </div>
        {scan.data?.shown.map(({ fingerprint }) => {
          const isPinned = hostKeys.some((key) => key === fingerprint);
          return (
            <Notice
              key={fingerprint}
              tone={isPinned ? 'good' : 'warn'}
              title={isPinned ? words.shownKnown : words.shownUnknown}
            >
              <p className="mono">{fingerprint}</p>
              {!isPinned && !isOwned && (
                <Button onClick={() => pin.mutate(fingerprint)}>{t.connection.test.pin}</Button>
              )}
            </Notice>
          );
        })}
      </div>
    </Panel>
  );
}

export function KeyPairChoice({ value, onValue }: { value: string; onValue: (id: string) => void }): ReactElement {
  const pairs = useRead('/manage/key-pairs');
  const [name, setName] = useState('');
  const create = useAction((wanted: string) => request('POST', '/manage/key-pairs', { name: wanted }), {
    refreshes: ['/manage/key-pairs'],
    showsError: true,
    onDone: ({ id }) => {
      setName('');
      onValue(id);
    },
  });
  const remove = useAction((id: string) => request('DELETE', `/manage/key-pairs/${id}`), {
    refreshes: ['/manage/key-pairs'],
    says: words.pairDeleted,
    onDone: () => onValue(''),
  });
  const known = pairs.data?.keyPairs ?? [];
  const chosen = known.find(({ id }) => id === value);
  return (
    <div className="stack inset">
      {known.length > 0 && (
        <ChoiceField
          label={words.pair}
          term="keyPair"
          value={value}
          onText={onValue}
          options={[
            ['', words.choose],
            ...known.map(({ id, name: text, fingerprint }) => [id, `${text} (${fingerprint.slice(0, 19)}…)`] as const),
          ]}
        />
      )}
      {chosen !== undefined && (
        <div className="stack tight">
          <p>{words.addPublic}</p>
          <CodeBlock code={chosen.publicKey} label={words.publicKey} />
          {chosen.usedBy.length === 0 && (
            <div className="row">
              <Button icon={Trash2} isBusy={remove.isPending} onClick={() => remove.mutate(chosen.id)}>
                {words.deletePair}
              </Button>
            </div>
          )}
        </div>
      )}
      <div className="row with-field">
        <TextField label={words.newPair} value={name} onText={setName} placeholder="warehouse-2026" maxLength={100} />
        <Button
          icon={known.length > 0 ? Plus : KeyRound}
          disabledBecause={name.trim() === '' && t.form.faults.missing}
          isBusy={create.isPending}
          onClick={() => create.mutate(name.trim())}
        >
          {words.generate}
        </Button>
      </div>
      <Failure error={create.error} />
    </div>
  );
}
