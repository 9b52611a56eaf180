/** The recipients of alarms by mail, the kinds of problems, and the quiet hours. */
import { type ReactElement, useState } from 'react';
import { ATTENTION_KINDS } from '../../../../contract/attention.ts';
import { MAIL_ADDRESS } from '../../../../contract/patterns.ts';
import { request } from '../../api/client.ts';
import { useAction, useRead } from '../../api/hooks.ts';
import type { Alarms } from '../../api/types.ts';
import { LANGUAGES, timeZone } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';
import { Ago, Badge, Button, Failure, Notice, Panel, Pending } from '../../ui/basics.tsx';
import { CheckedForm } from '../../ui/checked-form.tsx';
import { AreaField, CheckField, TextField } from '../../ui/fields.tsx';
import { FormFields, useForm } from '../../ui/form.tsx';
import { showToast } from '../../toasts.ts';

const AT = '/manage/alarms';
const READS = [AT];
const NIGHT = { 'quiet.from': '22:00', 'quiet.to': '07:00' };
const QUIET_PARTS = ['quiet.from', 'quiet.to', 'quiet.timeZone'];

export function AlarmsPanel({ email }: { readonly email: string }): ReactElement {
  const read = useRead(AT);
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
  const form = useForm(['alarms'], { former: alarms });
  const [addresses, setAddresses] = useState(
    alarms.recipients.length === 0 ? email : alarms.recipients.map(({ address }) => address).join('\n'),
  );
  const recipients = addresses.split(/[\s,;]+/).filter((address) => address !== '');
  const wrong = recipients.find((address) => !new RegExp(MAIL_ADDRESS, 'u').test(address));
  const save = useAction(
    () => {
      return request('PUT', AT, { ...form.answers(), recipients });
    },
    {
      onDone: (saved) => showToast(t.alarms.saved(t.alarms.states[stateOf(saved)])),
      refreshes: READS,
      showsError: true,
    },
  );
  const test = useAction(() => request('POST', `${AT}/test`), {
    onDone: ({ recipients }) => showToast(t.alarms.tested(recipients.length)),
    refreshes: READS,
    showsError: true,
  });
  const { quiet } = t.fields.alarms;
  const hasQuiet = form.draft['quiet.from'] !== '';
  const zone = String(form.draft['quiet.timeZone']);
  const canTest = alarms.isMailConfigured && alarms.recipients.some(({ isConfirmed }) => isConfirmed);
  return (
    <CheckedForm className="panel-body" onSend={() => save.mutate(undefined)}>
      <p className="muted">{t.alarms.lead}</p>
      {!alarms.isMailConfigured && <Notice>{t.alarms.off}</Notice>}
      <State alarms={alarms} />
      <FormFields
        form={form}
        groups={[
          {
            names: ['isOn', 'recipients', 'kinds', 'language', 'hasQuiet', ...QUIET_PARTS, 'urgentBreaksQuiet'],
            isPlain: true,
          },
        ]}
        special={{
          recipients: {
            draw: () => (
              <AreaField
                label={t.alarms.recipients}
                hint={t.alarms.recipientsHint}
                value={addresses}
                rows={3}
                fault={wrong === undefined ? undefined : t.form.faults.at(wrong, t.alarms.wrongAddress)}
                onText={setAddresses}
              />
            ),
          },
          kinds: { options: ATTENTION_KINDS.map((kind) => [kind, t.overview.attention.kinds[kind].choice]) },
          language: { isRadio: true, options: LANGUAGES },
          hasQuiet: {
            draw: () => (
              <CheckField
                label={quiet.label}
                hint={quiet.hint}
                checked={hasQuiet}
                onCheck={(isOn) => form.set(isOn ? { ...NIGHT, 'quiet.timeZone': timeZone } : { 'quiet.from': '' })}
              />
            ),
          },
          'quiet.from': hasQuiet ? { type: 'time' } : { draw: () => null },
          'quiet.to': { type: 'time' },
          'quiet.timeZone': { options: zonesWith(zone) },
          urgentBreaksQuiet: hasQuiet ? {} : { draw: () => null },
        }}
      />
      <Failure error={save.error ?? test.error} />
      <div className="row end">
        <Button
          disabledBecause={!canTest && t.alarms.noTest}
          isBusy={test.isPending}
          onClick={() => test.mutate(undefined)}
        >
          {t.alarms.test}
        </Button>
        <Button variant="primary" type="submit" isBusy={save.isPending}>
          {t.alarms.save}
        </Button>
      </div>
      <Recipients alarms={alarms} />
    </CheckedForm>
  );
}

/** Whether alarms are sent with the saved settings. If not, the first missing setting. */
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
        <Badge tone="good">{t.words.active}</Badge>
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
        <Button
          disabledBecause={code.trim() === '' && t.form.faults.missing}
          isBusy={confirm.isPending}
          onClick={() => confirm.mutate(undefined)}
        >
          {t.alarms.confirm}
        </Button>
      </div>
    </>
  );
}
