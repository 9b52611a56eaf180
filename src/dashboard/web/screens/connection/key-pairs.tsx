/** Key pairs whose private half never leaves the gateway: choose one, or make one and hand out its public half. */
import { useState, type ReactElement } from 'react';
import { KeyRound, Plus, Trash2 } from '../../ui/icons.tsx';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { KeyPair } from '../../api/types.ts';
import { Button, CodeBlock, Failure } from '../../ui/basics.tsx';
import { ChoiceField, TextField } from '../../ui/fields.tsx';

export function KeyPairChoice({
  value,
  onValue,
}: {
  readonly value: string;
  readonly onValue: (id: string) => void;
}): ReactElement {
  const pairs = useRead<{ keyPairs: KeyPair[] }>('/manage/key-pairs');
  const [name, setName] = useState('');
  const create = useAction((wanted: string) => request<KeyPair>('POST', '/manage/key-pairs', { name: wanted }), {
    refreshes: ['/manage/key-pairs'],
    showsError: true,
    onDone: ({ id }) => {
      setName('');
      onValue(id);
    },
  });
  const remove = useAction((id: string) => request('DELETE', `/manage/key-pairs/${id}`), {
    refreshes: ['/manage/key-pairs'],
    says: 'Key pair deleted',
    onDone: () => onValue(''),
  });
  const known = pairs.data?.keyPairs ?? [];
  const chosen = known.find(({ id }) => id === value);
  return (
    <div className="stack inset">
      {known.length > 0 && (
        <ChoiceField
          label="Key pair"
          value={value}
          onText={onValue}
          options={[
            ['', 'Choose …'],
            ...known.map(({ id, name: text, fingerprint }) => [id, `${text} (${fingerprint.slice(0, 19)}…)`] as const),
          ]}
        />
      )}
      {chosen !== undefined && (
        <div className="stack tight">
          <p>Add this public key to the authorized keys of the user on the server:</p>
          <CodeBlock code={chosen.publicKey} label="Public key" />
          {chosen.usedBy.length === 0 && (
            <div className="row">
              <Button icon={Trash2} isBusy={remove.isPending} onClick={() => remove.mutate(chosen.id)}>
                Delete this key pair
              </Button>
            </div>
          )}
        </div>
      )}
      <div className="row with-field">
        <TextField
          label="Name of a new key pair"
          value={name}
          onText={setName}
          placeholder="warehouse-2026"
          maxLength={100}
        />
        <Button
          icon={known.length > 0 ? Plus : KeyRound}
          disabled={name.trim() === ''}
          isBusy={create.isPending}
          onClick={() => create.mutate(name.trim())}
        >
          Generate
        </Button>
      </div>
      <Failure error={create.error} />
    </div>
  );
}
