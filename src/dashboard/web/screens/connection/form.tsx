/** The fields of a connection in four sections. */
import { type KeyboardEvent, type ReactElement, useState } from 'react';
import { SLUG_OR_EMPTY } from '../../../../contract/patterns.ts';
import { t } from '../../texts/texts.ts';
import { RadioGroup, TextField } from '../../ui/fields.tsx';
import { FormFields } from '../../ui/form.tsx';
import type { TermName } from '../../ui/term-popover.tsx';
import { takenApart } from './address.ts';
import { type ConnectionForm, exampleOf, hasLogins, namesOf, shapeOf } from './draft.ts';
import { addressFaults } from './faults.ts';
import { KeyPairChoice } from './login-keys.tsx';

const words = t.connection;
/** The fields that name the server. */
const OF_SERVER = [
  ...['name', 'id', 'host', 'port', 'tls', 'tlsVerify'],
  ...['endpoint', 'region', 'bucket', 'prefix', 'forcePathStyle'],
];
const OF_LOGIN = [
  ...['username', 'loginWith', 'password', 'privateKey', 'passphrase', 'keyPairId'],
  ...['accessKeyId', 'secretAccessKey', 'sessionToken'],
];
const TERMS: Readonly<Record<string, TermName>> = {
  hostKeys: 'hostKey',
  passphrase: 'passphrase',
  rootPath: 'rootFolder',
  atomicUploads: 'atomicUpload',
  digests: 'digest',
};
/** Fields that accept a whole address. */
const ADDRESSES = ['host', 'endpoint'];
/** A number with a visible default. It has no steps. */
const NUMERIC = { inputMode: 'numeric' } as const;
/** Fields below the others, as wide as the form. */
const LISTS = ['hostKeys'];

const isSlug = (id: string): boolean => new RegExp(SLUG_OR_EMPTY).test(id);

/** `derivedId` is made from the name until the user types an id. */
export function ConnectionFields(props: ConnectionForm & { readonly derivedId?: string }): ReactElement {
  const { form, types, type, known, changes, derivedId = '' } = props;
  const { draft, set } = form;
  const [isTakenApart, setTakenApart] = useState(false);
  const takeApart = (text: string): boolean => {
    const next = takenApart(text, String(draft['type']), known !== undefined);
    setTakenApart(next !== undefined);
    if (next !== undefined) set(next);
    return next !== undefined;
  };
  const { properties, required } = shapeOf(type);
  const isStored = (secret: string): boolean => known?.secrets[secret] === true;
  const faults = addressFaults(draft, isStored);
  const isHidden = (name: string): boolean =>
    (name === 'tlsVerify' && draft['tls'] === 'none') ||
    (name === 'tlsCa' && (draft['tls'] === 'none' || draft['tlsVerify'] === false));
  const isLost = (name: string): boolean => type.sent.includes(name) && type.address.some((part) => part in changes);
  const specialOf = (name: string) => {
    const { writeOnly: isSecret = false, type: of = '' } = properties[name] ?? {};
    const isKept = isStored(name);
    const isBeside = name === 'password' && draft['loginWith'] !== 'password' && hasLogins(type);
    const isLong = type.multiline.includes(name);
    const shown = of.includes('array') ? 'SHA256:…' : isLong ? '-----BEGIN …-----' : exampleOf(type, name);
    return {
      term: TERMS[name],
      fault: faults[name],
      isRadio: !type.advanced.includes(name),
      placeholder: isSecret && !isLong ? (isKept ? '••••••••' : undefined) : shown,
      ...(isBeside ? { label: words.passwordToo(form.textsOf(name)?.label ?? name) } : {}),
      ...(isKept ? { hint: isLost(name) ? words.lostSecret : words.keptSecret } : {}),
      ...(isSecret ? { isRequired: required.includes(name) && known === undefined } : {}),
      ...(ADDRESSES.includes(name) ? { typing: addressing(takeApart) } : {}),
      ...(of.includes('integer') ? { type: 'text', typing: NUMERIC } : {}),
      ...(isHidden(name) ? { draw: () => null } : {}),
    };
  };
  const keptPart = (secret: string) =>
    isStored(secret) ? { placeholder: '••••••••', hint: words.keptSecret } : undefined;
  const names = namesOf(type);
  const others = names.filter((name) => ![...OF_SERVER, ...OF_LOGIN, ...type.advanced].includes(name));
  const { label, hint } = t.fields.connection.id;
  return (
    <>
      <RadioGroup
        label={words.type}
        value={String(draft['type'])}
        disabled={known !== undefined}
        options={types.map((one) => [one.type, one.title] as const)}
        onValue={(chosen) => set({ type: chosen })}
      />
      <FormFields
        form={form}
        groups={[
          {
            title: words.whereTitle,
            section: 'shown',
            names: OF_SERVER,
            note: (
              <p role="status" className={isTakenApart ? 'hint' : 'visually-hidden'}>
                {isTakenApart && words.takenApart}
              </p>
            ),
          },
          { title: words.loginTitle, section: 'shown', names: OF_LOGIN },
          {
            title: words.foldersTitle,
            section: 'shown',
            names: [
              ...others.filter((name) => !LISTS.includes(name)),
              ...others.filter((name) => LISTS.includes(name)),
            ],
          },
          { title: words.limitsTitle, section: 'folded', names: type.advanced },
        ]}
        special={{
          ...Object.fromEntries(names.map((name) => [name, specialOf(name)])),
          'proxy.password': keptPart('proxyPassword'),
          'encryption.key': keptPart('encryptionKey'),
          id: {
            draw: () => (
              <TextField
                label={label}
                term="connectionId"
                value={draft['id'] === '' ? derivedId : String(draft['id'])}
                disabled={known !== undefined}
                onText={(id) => set({ id })}
                hint={known === undefined ? hint : undefined}
                fault={
                  known === undefined && !isSlug(String(draft['id']).trim()) ? t.form.faults.patterns.slug : undefined
                }
              />
            ),
          },
          loginWith: hasLogins(type) ? { draw: () => <LoginChoice {...props} /> } : undefined,
          keyPairId: {
            draw: () =>
              form.asks('keyPairId') && (
                <div className="whole">
                  <KeyPairChoice value={String(draft['keyPairId'])} onValue={(keyPairId) => set({ keyPairId })} />
                </div>
              ),
          },
        }}
      />
    </>
  );
}

function LoginChoice({ form }: ConnectionForm): ReactElement {
  return (
    <div className="whole">
      <RadioGroup
        label={words.logInWith}
        term="keyPair"
        value={String(form.draft['loginWith'])}
        options={[
          ['password', words.withPassword],
          ['key', words.withKey],
          ['pair', words.withPair],
        ]}
        onValue={(loginWith) => form.set({ loginWith })}
      />
    </div>
  );
}

/** Calls `onAddress` after a paste, on leaving the field and on Enter, but not while the user types. */
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
