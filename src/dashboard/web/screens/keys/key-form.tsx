/** What a key may do, where, from where and for how long. */
import { useState, type ReactElement } from 'react';
import { SCOPES, type ApiKey, type Connection, type Scope } from '../../api/types.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { AreaField, CheckField, TextField } from '../../ui/fields.tsx';

export interface KeyInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly connections: readonly string[];
  readonly allowedIps: readonly string[];
  readonly expiresAt: string | null;
}

const SCOPE_HINTS: Readonly<Record<Scope, string>> = {
  read: 'List, look up, read and download files.',
  write: 'Upload, write, append, move, copy and delete files.',
  watch: 'See and change watched folders.',
  exec: 'Run commands on SFTP servers.',
  admin: 'Everything this dashboard can do. Handle it as you would the password.',
};

export function KeyForm(props: {
  readonly title: string;
  readonly verb: string;
  readonly apiKey?: ApiKey;
  readonly connections: readonly Connection[];
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onSave: (input: KeyInput) => void;
  readonly onClose: () => void;
}): ReactElement {
  const { title, verb, apiKey, connections, isBusy, error, onSave, onClose } = props;
  const [name, setName] = useState(apiKey?.name ?? '');
  const [scopes, setScopes] = useState<readonly Scope[]>(apiKey?.scopes ?? ['read', 'write', 'watch']);
  const [limitedTo, setLimitedTo] = useState<readonly string[]>(apiKey?.connections ?? []);
  const [addresses, setAddresses] = useState(apiKey?.allowedIps.join('\n') ?? '');
  const [expiry, setExpiry] = useState(toLocalInput(apiKey?.expiresAt ?? null));
  const isAdmin = scopes.includes('admin');
  const toggle = <V,>(list: readonly V[], value: V, isOn: boolean): V[] =>
    isOn ? [...list, value] : list.filter((one) => one !== value);
  return (
    <FormDialog
      title={title}
      verb={verb}
      size="medium"
      keepsOpen
      isBusy={isBusy}
      isReady={name.trim() !== '' && scopes.length > 0}
      error={error}
      onClose={onClose}
      onSend={() => {
        onSave({
          name: name.trim(),
          scopes,
          connections: isAdmin ? [] : limitedTo,
          allowedIps: addresses.split(/[\s,]+/).filter(Boolean),
          expiresAt: expiry === '' ? null : new Date(expiry).toISOString(),
        });
      }}
    >
      <TextField
        label="Name"
        required
        value={name}
        onText={setName}
        maxLength={100}
        hint="The program that will use it."
        isFirst
      />
      <fieldset className="plain-fieldset stack tight">
        <legend className="field-label">Rights</legend>
        {SCOPES.map((scope) => (
          <CheckField
            key={scope}
            label={scope}
            hint={SCOPE_HINTS[scope]}
            checked={scopes.includes(scope)}
            onCheck={(isOn) => setScopes(toggle(scopes, scope, isOn))}
          />
        ))}
      </fieldset>
      {isAdmin ? (
        <p className="hint">A key with the right admin cannot be limited to connections: it may edit all of them.</p>
      ) : (
        connections.length > 0 && (
          <fieldset className="plain-fieldset stack tight">
            <legend className="field-label">Only these connections</legend>
            {connections.map(({ id, name: text }) => (
              <CheckField
                key={id}
                label={text}
                checked={limitedTo.includes(id)}
                onCheck={(isOn) => setLimitedTo(toggle(limitedTo, id, isOn))}
              />
            ))}
            <p className="hint">None chosen: all, later ones too.</p>
          </fieldset>
        )
      )}
      <div className="form-grid">
        <AreaField
          label="Only from these addresses"
          rows={2}
          value={addresses}
          onText={setAddresses}
          placeholder="192.0.2.0/24"
          hint="One a line, with or without a mask. Empty: from anywhere."
        />
        <TextField label="Expires" type="datetime-local" value={expiry} onText={setExpiry} hint="Empty: never." />
      </div>
    </FormDialog>
  );
}

/** The value of a datetime-local input, which knows no zone: the browser's own. */
function toLocalInput(iso: string | null): string {
  if (iso === null) return '';
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
