/** The account's password, second factor and sessions, and this browser's preferences. */
import { type ReactElement, useState } from 'react';
import { NEW_PASSWORD } from '../../../contract/login.ts';
import { request } from '../api/client.ts';
import { useAction, useRead, useRows } from '../api/hooks.ts';
import type { Session } from '../api/types.ts';
import {
  LANGUAGES,
  language,
  ownZone,
  setLanguage,
  setShortcuts,
  setTheme,
  setTimeZone,
  timeZone,
  useShortcutsSetting,
  useTheme,
  THEMES,
} from '../preferences.ts';
import { t } from '../texts/texts.ts';
import { ActionButton } from '../ui/actions.tsx';
import { actions, Ago, Badge, Button, Facts, Failure, Mono, Notice, Page, Panel, Loaded, Time } from '../ui/basics.tsx';
import { CheckedForm } from '../ui/checked-form.tsx';
import { CheckField, ChoiceField, RadioGroup, TextField } from '../ui/fields.tsx';
import { List } from '../ui/list.tsx';
import { showToast } from '../toasts.ts';
import { AlarmsPanel } from './settings/alarms.tsx';
import { BrandPanel } from './settings/brand.tsx';
import { TotpPanel } from './settings/totp.tsx';

export default function Settings(): ReactElement {
  const read = useRead('/manage/account');
  return (
    <Page title={t.places.settings}>
      <Loaded of={read}>
        {({ email, plan, createdAt, hasPassword, totp }) => (
          <div className="settings-grid">
            <Panel title={t.settings.account} isPadded>
              <Facts
                of={{
                  [t.login.email]: email,
                  [t.settings.plan]: plan,
                  [t.words.since]: <Time iso={createdAt} form="long" />,
                }}
              />
            </Panel>
            <Appearance />
            <PasswordPanel hasPassword={hasPassword} />
            <TotpPanel totp={totp} />
            <AlarmsPanel email={email} />
            <BrandPanel />
          </div>
        )}
      </Loaded>
      <SessionsPanel />
    </Page>
  );
}

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => [zone, zone] as const);

function Appearance(): ReactElement {
  const theme = useTheme();
  const hasShortcuts = useShortcutsSetting();
  return (
    <Panel isPadded title={t.settings.browser}>
      <RadioGroup
        label={t.settings.colours}
        value={theme}
        options={THEMES.map((name) => [name, t.settings[name]])}
        onValue={setTheme}
      />
      <RadioGroup label={t.settings.language} value={language} options={LANGUAGES} onValue={setLanguage} />
      <ChoiceField
        label={t.settings.zone}
        value={timeZone === ownZone ? '' : timeZone}
        options={[['', t.settings.zoneOfBrowser(ownZone)], ...ZONES]}
        onText={(zone) => setTimeZone(zone === '' ? undefined : zone)}
      />
      <CheckField
        label={t.settings.shortcuts}
        hint={t.settings.shortcutsHint}
        checked={hasShortcuts}
        onCheck={setShortcuts}
      />
    </Panel>
  );
}

function PasswordPanel({ hasPassword }: { readonly hasPassword: boolean }): ReactElement {
  const words = t.settings.password;
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const change = useAction(() => request('POST', '/manage/password', { currentPassword: current, newPassword: next }), {
    refreshes: ['/manage/sessions'],
    showsError: true,
    onDone: ({ revokedSessions }) => {
      showToast(words.changed(revokedSessions));
      setCurrent('');
      setNext('');
      setAgain('');
    },
  });
  return (
    <Panel title={words.title}>
      <CheckedForm className="panel-body" onSend={() => change.mutate(undefined)}>
        {!hasPassword && <Notice>{words.none}</Notice>}
        <TextField
          label={words.current}
          type="password"
          required
          value={current}
          onText={setCurrent}
          autoComplete="current-password"
          disabled={!hasPassword}
        />
        <TextField
          label={words.next}
          type="password"
          required
          {...NEW_PASSWORD}
          value={next}
          onText={setNext}
          autoComplete="new-password"
          hint={words.hint(NEW_PASSWORD.minLength)}
          disabled={!hasPassword}
        />
        <TextField
          label={words.again}
          type="password"
          required
          value={again}
          onText={setAgain}
          autoComplete="new-password"
          fault={again === '' || next === again ? undefined : words.different}
          disabled={!hasPassword}
        />
        <Failure error={change.error} />
        <div className="row end">
          <Button
            variant="primary"
            type="submit"
            isBusy={change.isPending}
            disabledBecause={!hasPassword && words.none}
          >
            {words.change}
          </Button>
        </div>
      </CheckedForm>
    </Panel>
  );
}

const READS = ['/manage/sessions'];

function SessionsPanel(): ReactElement {
  const words = t.settings.sessions;
  const list = useRows('/manage/sessions', 'sessions');
  return (
    <Panel
      title={words.title}
      actions={
        (list.rows?.length ?? 0) > 1 && (
          <ActionButton
            run={() => request('POST', '/manage/sessions/revoke-others')}
            says={words.othersEnded}
            refreshes={READS}
          >
            {words.endOthers}
          </ActionButton>
        )
      }
    >
      <List
        list={list}
        label={words.title}
        none=""
        columns={[
          {
            head: words.browser,
            cell: ({ userAgent, isCurrent }) => (
              <span className="row">
                {browserOf(userAgent)}
                {isCurrent && <Badge tone="info">{words.thisOne}</Badge>}
              </span>
            ),
          },
          { head: words.address, cell: ({ address }) => <Mono>{address}</Mono> },
          { head: words.loggedIn, cell: ({ createdAt }) => <Time iso={createdAt} /> },
          { head: words.lastSeen, cell: ({ lastSeenAt }) => <Ago iso={lastSeenAt} /> },
          actions<Session>(
            ({ id, isCurrent, address }) =>
              !isCurrent && (
                <ActionButton
                  run={() => request('DELETE', `/manage/sessions/${id}`)}
                  says={words.ended}
                  refreshes={READS}
                  aria-label={words.endThat(address)}
                >
                  {words.end}
                </ActionButton>
              ),
          ),
        ]}
      />
    </Panel>
  );
}

/** Describes the browser well enough to distinguish one's own browsers. */
function browserOf(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return t.settings.sessions.unknown;
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)\//.exec(userAgent)?.[1] ?? userAgent.slice(0, 40);
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[1];
  const name = { Edg: 'Edge', OPR: 'Opera' }[browser] ?? browser;
  return system === undefined ? name : t.settings.sessions.on(name, system.replace(/^Mac.*/, 'macOS'));
}
