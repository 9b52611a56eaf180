/** The fields of a connection, drawn from what the gateway says of its type. */
import { Fragment, type ReactElement } from 'react';
import type { Connection, ConnectionType } from '../../api/types.ts';
import { AreaField, CheckField, ChoiceField, RadioGroup, TextField } from '../../ui/fields.tsx';
import { hasLogins, isLost, shownFields, textOf, valueOf, type Draft, type FormField } from './draft.ts';
import { KeyPairChoice } from './login-keys.tsx';

export interface FormProps {
  readonly types: readonly ConnectionType[];
  readonly type: ConnectionType;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  /** Absent while it is new. */
  readonly known?: Connection | undefined;
}

export function ConnectionFields(props: FormProps): ReactElement {
  const { types, type, draft, onDraft, known } = props;
  const fields = shownFields(type, draft);
  const firstSecret = hasLogins(type) ? fields.find(({ isSecret }) => isSecret) : undefined;
  return (
    <>
      <RadioGroup
        label="Type of server"
        value={draft.type}
        disabled={known !== undefined}
        options={types.map((one) => [one.type, one.title] as const)}
        onValue={(chosen) => onDraft({ ...draft, type: chosen })}
      />
      <div className="form-grid">
        {fields
          .filter(({ isAdvanced }) => !isAdvanced)
          .map((field) => (
            <Fragment key={field.key}>
              {field === firstSecret && (
                <div className="whole">
                  <RadioGroup
                    label="Log in with"
                    value={draft.loginWith}
                    options={[
                      ['password', 'Password'],
                      ['key', 'Private key'],
                      ['pair', 'Generated key pair'],
                    ]}
                    onValue={(loginWith) => onDraft({ ...draft, loginWith })}
                  />
                </div>
              )}
              <DrawnField {...props} field={field} />
              {field.name === 'name' && (
                <TextField
                  label="Id"
                  value={draft.id}
                  disabled={known !== undefined}
                  onText={(id) => onDraft({ ...draft, id })}
                  hint={known === undefined ? 'Names it in requests of the API. Empty: one is made.' : undefined}
                  pattern="[a-z0-9][a-z0-9_\-]*"
                />
              )}
            </Fragment>
          ))}
      </div>
      <details>
        <summary>Limits and habits of the server</summary>
        <div className="form-grid">
          {fields
            .filter(({ isAdvanced }) => isAdvanced)
            .map((field) => (
              <DrawnField key={field.key} {...props} field={field} />
            ))}
        </div>
      </details>
    </>
  );
}

function DrawnField({ field, draft, onDraft, type, known }: FormProps & { readonly field: FormField }): ReactElement {
  const { key, name, kind, shape, isAdvanced, isSecret, isLong } = field;
  const value = textOf(field, draft);
  const onValue = (next: string | boolean): void => onDraft({ ...draft, values: { ...draft.values, [key]: next } });
  const isBeside = name === 'password' && draft.loginWith !== 'password' && hasLogins(type);
  const isKept = known?.secrets[name] === true;
  const hint = isKept ? keptHint(isLost(field, draft, type, known)) : shape.description;
  const common = {
    label: isBeside ? `${field.title}, where the server asks for one too` : field.title,
    hint: hint === '' ? undefined : hint,
    value,
    onText: onValue,
  };
  if (name === 'keyPairId') {
    return (
      <div className="whole">
        <KeyPairChoice value={value} onValue={onValue} />
      </div>
    );
  }
  if (kind === 'choice') {
    const options = (shape.oneOf ?? []).map((one) => [one.const, one.title] as const);
    return (
      <div className="whole">
        {isAdvanced ? (
          <ChoiceField {...common} options={options} />
        ) : (
          <RadioGroup label={common.label} value={value} options={options} onValue={onValue} />
        )}
      </div>
    );
  }
  if (kind === 'flag') {
    return (
      <div className="whole">
        <CheckField
          label={common.label}
          hint={common.hint}
          checked={valueOf(field, draft) === true}
          onCheck={onValue}
        />
      </div>
    );
  }
  if (kind === 'list' || isLong) {
    return (
      <div className="whole">
        <AreaField {...common} rows={isLong ? 4 : 2} placeholder={kind === 'list' ? 'SHA256:…' : '-----BEGIN …-----'} />
      </div>
    );
  }
  if (isSecret) {
    return (
      <TextField
        {...common}
        type="password"
        required={field.isRequired && known === undefined}
        autoComplete="new-password"
        placeholder={isKept ? '••••••••' : undefined}
      />
    );
  }
  return (
    <TextField
      {...common}
      required={field.isRequired}
      maxLength={shape.maxLength}
      placeholder={field.example || String(shape.default ?? '')}
      {...(kind === 'number' ? { inputMode: 'numeric', pattern: '[0-9]*' } : {})}
    />
  );
}

function keptHint(isLostNow: boolean): string {
  return isLostNow
    ? 'The server changes: give it again. A stored secret is never sent to another server.'
    : 'One is stored and never shown. Leave this empty to keep it.';
}
