/** The fields of a connection, drawn from what the gateway says of its type, in four sections. */
import { Fragment, type KeyboardEvent, type ReactElement, useState } from 'react';
import type { Connection, ConnectionType } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { AreaField, CheckField, ChoiceField, RadioGroup, TextField } from '../../ui/fields.tsx';
import type { TermName } from '../../ui/term-popover.tsx';
import { takenApart } from './address.ts';
import { hasLogins, isLost, shownFields, textOf, valueOf, type Draft, type FormField } from './draft.ts';
import { KeyPairChoice } from './login-keys.tsx';

interface FormProps {
  readonly types: readonly ConnectionType[];
  readonly type: ConnectionType;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  /** Absent while it is new. */
  readonly known?: Connection | undefined;
  /** Made from the name, as long as no other is typed. */
  readonly derivedId?: string;
}

const words = t.connection;
/** Whose fields name the server; those of the login follow, then what else there is. */
const OF_SERVER = [
  'name',
  'host',
  'port',
  'tls',
  'tlsVerify',
  'endpoint',
  'region',
  'bucket',
  'prefix',
  'forcePathStyle',
];
const OF_LOGIN = [
  'username',
  'password',
  'privateKey',
  'passphrase',
  'keyPairId',
  'accessKeyId',
  'secretAccessKey',
  'sessionToken',
];
const TERMS: Readonly<Record<string, TermName>> = {
  hostKeys: 'hostKey',
  passphrase: 'passphrase',
  rootPath: 'rootFolder',
  atomicUploads: 'atomicUpload',
  digests: 'digest',
};
/** Where an address may be typed that says more than a host. */
const ADDRESSES = ['host', 'endpoint'];

export function ConnectionFields(props: FormProps): ReactElement {
  const { types, type, draft, onDraft, known, derivedId = '' } = props;
  const [isTakenApart, setTakenApart] = useState(false);
  const fields = shownFields(type, draft);
  const firstSecret = hasLogins(type) ? fields.find(({ isSecret }) => isSecret) : undefined;
  const usual = fields.filter(({ isAdvanced }) => !isAdvanced);
  const server = usual.filter(({ name }) => OF_SERVER.includes(name));
  const login = usual.filter(({ name }) => OF_LOGIN.includes(name));
  const others = usual
    .filter((field) => !server.includes(field) && !login.includes(field))
    .sort((a, b) => Number(isWhole(a)) - Number(isWhole(b)));
  const takeApart = (text: string): boolean => {
    const next = takenApart(text, draft, known !== undefined);
    setTakenApart(next !== undefined);
    if (next !== undefined) onDraft(next);
    return next !== undefined;
  };
  const drawn = (field: FormField): ReactElement => (
    <DrawnField key={field.key} {...props} field={field} onAddress={takeApart} />
  );
  return (
    <>
      <RadioGroup
        label={words.type}
        value={draft.type}
        disabled={known !== undefined}
        options={types.map((one) => [one.type, one.title] as const)}
        onValue={(chosen) => onDraft({ ...draft, type: chosen })}
      />
      <section className="form-section">
        <h3>{words.whereTitle}</h3>
        <div className="form-grid pairs">
          {server.map((field) => (
            <Fragment key={field.key}>
              {drawn(field)}
              {field.name === 'name' && (
                <TextField
                  label={words.id}
                  term="connectionId"
                  value={draft.id === '' ? derivedId : draft.id}
                  disabled={known !== undefined}
                  onText={(id) => onDraft({ ...draft, id })}
                  hint={known === undefined ? words.idHint : undefined}
                  pattern="[a-z0-9][a-z0-9_\-]*"
                />
              )}
            </Fragment>
          ))}
        </div>
        <p role="status" className={isTakenApart ? 'hint' : 'visually-hidden'}>
          {isTakenApart && words.takenApart}
        </p>
      </section>
      <section className="form-section">
        <h3>{words.loginTitle}</h3>
        <div className="form-grid pairs">
          {login.map((field) => (
            <Fragment key={field.key}>
              {field === firstSecret && (
                <div className="whole">
                  <RadioGroup
                    label={words.logInWith}
                    term="keyPair"
                    value={draft.loginWith}
                    options={[
                      ['password', words.withPassword],
                      ['key', words.withKey],
                      ['pair', words.withPair],
                    ]}
                    onValue={(loginWith) => onDraft({ ...draft, loginWith })}
                  />
                </div>
              )}
              {drawn(field)}
            </Fragment>
          ))}
        </div>
      </section>
      {others.length > 0 && (
        <section className="form-section">
          <h3>{words.foldersTitle}</h3>
          <div className="form-grid pairs">{others.map(drawn)}</div>
        </section>
      )}
      <details className="form-section">
        <summary>{words.limitsTitle}</summary>
        <div className="form-grid pairs">{fields.filter(({ isAdvanced }) => isAdvanced).map(drawn)}</div>
      </details>
    </>
  );
}

/** As wide as the form. */
function isWhole({ kind, isLong }: FormField): boolean {
  return isLong || kind === 'list' || kind === 'flag' || kind === 'choice';
}

type DrawnProps = FormProps & {
  readonly field: FormField;
  /** Whether it has filled other fields. */
  readonly onAddress: (text: string) => boolean;
};

function DrawnField({ field, draft, onDraft, type, known, onAddress }: DrawnProps): ReactElement {
  const { key, name, kind, shape, isAdvanced, isSecret, isLong } = field;
  const value = textOf(field, draft);
  const onValue = (next: string | boolean): void => onDraft({ ...draft, values: { ...draft.values, [key]: next } });
  const isBeside = name === 'password' && draft.loginWith !== 'password' && hasLogins(type);
  const isKept = known?.secrets[name] === true;
  const title = words.titles[key] ?? field.title;
  const told = words.hints[key] ?? shape.description;
  const hint = isKept ? (isLost(field, draft, type, known) ? words.lostSecret : words.keptSecret) : told;
  const common = {
    label: isBeside ? words.passwordToo(title) : title,
    hint: hint === '' ? undefined : hint,
    term: TERMS[name],
  };
  const text = { ...common, value, onText: onValue };
  if (name === 'keyPairId') {
    return (
      <div className="whole">
        <KeyPairChoice value={value} onValue={onValue} />
      </div>
    );
  }
  if (kind === 'choice') {
    const options = (shape.oneOf ?? []).map(
      (one) => [one.const, words.choices[`${name}.${one.const}`] ?? one.title] as const,
    );
    return (
      <div className="whole">
        {isAdvanced ? (
          <ChoiceField {...text} options={options} />
        ) : (
          <RadioGroup label={common.label} term={common.term} value={value} options={options} onValue={onValue} />
        )}
      </div>
    );
  }
  if (kind === 'flag') {
    return (
      <div className="whole">
        <CheckField {...common} checked={valueOf(field, draft) === true} onCheck={onValue} />
      </div>
    );
  }
  if (kind === 'list' || isLong) {
    return (
      <div className="whole">
        <AreaField {...text} rows={isLong ? 4 : 2} placeholder={kind === 'list' ? 'SHA256:…' : '-----BEGIN …-----'} />
      </div>
    );
  }
  if (isSecret) {
    return (
      <TextField
        {...text}
        type="password"
        required={field.isRequired && known === undefined}
        autoComplete="new-password"
        placeholder={isKept ? '••••••••' : undefined}
      />
    );
  }
  return (
    <TextField
      {...text}
      required={field.isRequired}
      maxLength={shape.maxLength}
      placeholder={field.example || String(shape.default ?? '')}
      {...(kind === 'number' ? { inputMode: 'numeric', pattern: '[0-9]*' } : {})}
      {...(ADDRESSES.includes(name) ? addressing(onAddress) : {})}
    />
  );
}

/** When it was pasted, left, or sent with Enter: not while it is typed. */
function addressing(onAddress: (text: string) => boolean): Partial<Parameters<typeof TextField>[0]> {
  return {
    onPaste: (event) => {
      if (onAddress(event.clipboardData.getData('text'))) event.preventDefault();
    },
    onBlur: ({ target }) => void (target.value !== '' && onAddress(target.value)),
    onKeyDown: (event: KeyboardEvent<HTMLInputElement>) => {
      if (event.key === 'Enter' && onAddress(event.currentTarget.value)) event.preventDefault();
    },
  };
}
