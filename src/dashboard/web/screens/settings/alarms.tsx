/** Who is told by mail of what needs a person, and when not. */
import { type ReactElement, useState } from 'react';
import { ATTENTION_KINDS } from '../../../../contract/attention.ts';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Alarms } from '../../api/types.ts';
import { LANGUAGES, timeZone } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';
import { Ago, Badge, Button, Failure, Notice, Panel, Pending } from '../../ui/basics.tsx';
import { AreaField, CheckField, ChoiceField, RadioGroup, TextField } from '../../ui/fields.tsx';
import { showToast } from '../../toasts.ts';

const AT = '/manage/alarms';
const READS = [AT];
const NIGHT = { from: '22:00', to: '07:00' };

export function AlarmsPanel({ email }: { readonly email: string }): ReactElement {
  const read = useRead<Alarms>(AT);
  return (
    <Panel title={t.alarms.title}>
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <AlarmsForm alarms={read.data} email={email} />
      )}
    </Panel>
  );
}

function AlarmsForm({ alarms, email }: { readonly alarms: Alarms; readonly email: string }): ReactElement {
  const [draft, setDraft] = useState(alarms);
  const [addresses, setAddresses] = useState(
    alarms.recipients.length === 0 ? email : alarms.recipients.map(({ address }) => address).join('\n'),
  );
  const change = (changes: Partial<Alarms>): void => setDraft({ ...draft, ...changes });
  const save = useAction(
    () => {
      const { isOn, kinds, language, quiet, urgentBreaksQuiet } = draft;
      const recipients = addresses.split(/[\s,;]+/).filter((address) => address !== '');
      return request<Alarms>('PUT', AT, { isOn, kinds, language, quiet, urgentBreaksQuiet, recipients });
    },
    {
      onDone: (saved) => showToast(t.alarms.saved(t.alarms.states[stateOf(saved)])),
      refreshes: READS,
      showsError: true,
    },
  );
  const test = useAction(() => request<{ recipients: string[] }>('POST', `${AT}/test`), {
    onDone: ({ recipients }) => showToast(t.alarms.tested(recipients.length)),
    refreshes: READS,
    showsError: true,
  });
  const { quiet } = draft;
  const canTest = alarms.isMailConfigured && alarms.recipients.some(({ isConfirmed }) => isConfirmed);
  return (
    <form
      className="panel-body"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(undefined);
      }}
    >
      <p className="muted">{t.alarms.lead}</p>
      {!alarms.isMailConfigured && <Notice>{t.alarms.off}</Notice>}
      <State alarms={alarms} />
      <CheckField label={t.alarms.isOn} checked={draft.isOn} onCheck={(isOn) => change({ isOn })} />
      <AreaField
        label={t.alarms.recipients}
        hint={t.alarms.recipientsHint}
        value={addresses}
        rows={3}
        onText={setAddresses}
      />
      <fieldset className="plain-fieldset stack tight">
        <legend className="field-label">{t.alarms.kinds}</legend>
        {ATTENTION_KINDS.map((kind) => (
          <CheckField
            key={kind}
            label={t.overview.attention.kinds[kind].choice}
            checked={draft.kinds.includes(kind)}
            onCheck={(isOn) =>
              change({ kinds: isOn ? [...draft.kinds, kind] : draft.kinds.filter((one) => one !== kind) })
            }
          />
        ))}
      </fieldset>
      <RadioGroup
        label={t.alarms.language}
        value={draft.language}
        options={LANGUAGES}
        onValue={(language) => change({ language })}
      />
      <CheckField
        label={t.alarms.hasQuiet}
        hint={t.alarms.hasQuietHint}
        checked={quiet !== null}
        onCheck={(isOn) => change({ quiet: isOn ? { ...NIGHT, timeZone } : null })}
      />
      {quiet !== null && (
        <>
          <TextField
            label={t.alarms.from}
            type="time"
            required
            value={quiet.from}
            onText={(from) => change({ quiet: { ...quiet, from } })}
          />
          <TextField
            label={t.alarms.to}
            type="time"
            required
            value={quiet.to}
            onText={(to) => change({ quiet: { ...quiet, to } })}
          />
          <ChoiceField
            label={t.alarms.zone}
            value={quiet.timeZone}
            options={zonesWith(quiet.timeZone)}
            onText={(zone) => change({ quiet: { ...quiet, timeZone: zone } })}
          />
          <CheckField
            label={t.alarms.breaks}
            checked={draft.urgentBreaksQuiet}
            onCheck={(urgentBreaksQuiet) => change({ urgentBreaksQuiet })}
          />
        </>
      )}
      <Failure error={save.error ?? test.error} />
      <div className="row end">
        <Button disabled={!canTest} isBusy={test.isPending} onClick={() => test.mutate(undefined)}>
          {t.alarms.test}
        </Button>
        <Button look="primary" type="submit" isBusy={save.isPending}>
          {t.alarms.save}
        </Button>
      </div>
      <Recipients alarms={alarms} />
    </form>
  );
}

/** Whether e-mails are sent as it is saved, and if not, the first thing that is missing. */
function stateOf({ isOn, isMailConfigured, kinds, recipients }: Alarms): keyof typeof t.alarms.states {
  if (!isOn) return 'off';
  if (!isMailConfigured) return 'noMail';
  if (kinds.length === 0) return 'noKinds';
  return recipients.some(({ isConfirmed }) => isConfirmed) ? 'active' : 'unconfirmed';
}

function State({ alarms }: { readonly alarms: Alarms }): ReactElement {
  const state = stateOf(alarms);
  return (
    <p className="row" role="status">
      {state === 'active' ? (
        <Badge tone="good">{t.alarms.active}</Badge>
      ) : (
        <Badge tone={state === 'off' ? 'plain' : 'warn'}>{t.alarms.inactive}</Badge>
      )}
      <span className="muted">{t.alarms.states[state]}</span>
    </p>
  );
}

function zonesWith(zone: string) {
  return [...new Set([zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map((one) => [one, one] as const);
}

function Recipients({ alarms: { recipients, isMailConfigured } }: { readonly alarms: Alarms }): ReactElement | null {
  if (recipients.length === 0) return null;
  return (
    <ul className="stack tight">
      {recipients.map(({ address, isConfirmed, sentAt, error }) => (
        <li key={address}>
          <div className="row">
            <span>{address}</span>
            {!isConfirmed && <Badge tone="warn">{t.alarms.waits}</Badge>}
            {sentAt !== null && (
              <span className="muted">
                {t.alarms.sent} <Ago iso={sentAt} />
              </span>
            )}
          </div>
          {error !== null && <Notice>{t.alarms.failing(error)}</Notice>}
          {!isConfirmed && isMailConfigured && <Confirm address={address} />}
        </li>
      ))}
    </ul>
  );
}

function Confirm({ address }: { readonly address: string }): ReactElement {
  const [code, setCode] = useState('');
  const send = useAction(() => request('POST', `${AT}/code`, { address }), {
    says: t.alarms.codeSent,
    showsError: true,
  });
  const confirm = useAction(() => request('POST', `${AT}/confirm`, { address, code: code.trim() }), {
    says: t.alarms.confirmed,
    refreshes: READS,
    showsError: true,
  });
  return (
    <>
      <TextField label={t.alarms.code(address)} value={code} maxLength={40} onText={setCode} />
      <Failure error={confirm.error ?? send.error} />
      <div className="row end">
        <Button
          aria-label={t.alarms.sendCodeTo(address)}
          isBusy={send.isPending}
          onClick={() => send.mutate(undefined)}
        >
          {t.alarms.sendCode}
        </Button>
        <Button disabled={code.trim() === ''} isBusy={confirm.isPending} onClick={() => confirm.mutate(undefined)}>
          {t.alarms.confirm}
        </Button>
      </div>
    </>
  );
}
