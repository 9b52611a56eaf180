/** What a key may do, where, from where and for how long. */
import { useState, type ReactElement } from 'react';
import { SCOPES, type ApiKey, type Connection, type Scope } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { AreaField, CheckField, RadioGroup, TextField } from '../../ui/fields.tsx';
import { Term } from '../../ui/term.tsx';

export interface KeyInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly connections: readonly string[];
  readonly allowedIps: readonly string[];
  readonly expiresAt: string | null;
}

const words = t.keys.form;

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
  const [reach, setReach] = useState<'every' | 'some'>(limitedTo.length > 0 ? 'some' : 'every');
  const [addresses, setAddresses] = useState(apiKey?.allowedIps.join('\n') ?? '');
  const [expiry, setExpiry] = useState(toLocalInput(apiKey?.expiresAt ?? null));
  const isAdmin = scopes.includes('admin');
  const isLimited = !isAdmin && reach === 'some';
  const toggle = <V,>(list: readonly V[], value: V, isOn: boolean): V[] =>
    isOn ? [...list, value] : list.filter((one) => one !== value);
  return (
    <FormDialog
      title={title}
      verb={verb}
      size="medium"
      keepsOpen
      isBusy={isBusy}
      isReady={name.trim() !== '' && scopes.length > 0 && !(isLimited && limitedTo.length === 0)}
      error={error}
      onClose={onClose}
      onSend={() => {
        onSave({
          name: name.trim(),
          scopes,
          connections: isLimited ? limitedTo : [],
          allowedIps: addresses.split(/[\s,]+/).filter(Boolean),
          expiresAt: expiry === '' ? null : new Date(expiry).toISOString(),
        });
      }}
    >
      <TextField
        label={t.keys.name}
        required
        value={name}
        onText={setName}
        maxLength={100}
        hint={words.nameHint}
        isFirst
      />
      <fieldset className="plain-fieldset stack tight">
        <legend className="field-label">
          {t.keys.rights} <Term of="rights" />
        </legend>
        {SCOPES.map((scope) => (
          <CheckField
            key={scope}
            label={scope}
            hint={words.scopes[scope]}
            checked={scopes.includes(scope)}
            onCheck={(isOn) => setScopes(toggle(scopes, scope, isOn))}
          />
        ))}
      </fieldset>
      {isAdmin ? (
        <p className="hint">{words.adminHint}</p>
      ) : (
        connections.length > 0 && (
          <>
            <RadioGroup
              label={words.connections}
              value={reach}
              options={[
                ['every', words.every],
                ['some', words.some],
              ]}
              onValue={setReach}
            />
            {isLimited && (
              <fieldset className="plain-fieldset stack tight inset">
                <legend className="visually-hidden">{words.some}</legend>
                {connections.map(({ id, name: text }) => (
                  <CheckField
                    key={id}
                    label={text}
                    checked={limitedTo.includes(id)}
                    onCheck={(isOn) => setLimitedTo(toggle(limitedTo, id, isOn))}
                  />
                ))}
                {limitedTo.length === 0 && <p className="hint">{words.chooseSome}</p>}
              </fieldset>
            )}
          </>
        )
      )}
      <div className="form-grid">
        <AreaField
          label={words.addresses}
          rows={2}
          value={addresses}
          onText={setAddresses}
          placeholder="192.0.2.0/24"
          hint={words.addressesHint}
        />
        <TextField
          label={t.words.expires}
          type="datetime-local"
          value={expiry}
          onText={setExpiry}
          hint={words.expiresHint}
        />
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
