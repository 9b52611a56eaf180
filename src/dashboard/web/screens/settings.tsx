/** The account's password, second factor and sessions, and how this browser shows the dashboard. */
import type { ReactElement } from 'react';
import { useRead } from '../api/hooks.ts';
import type { Account } from '../api/types.ts';
import { setShortcuts, setTheme, useShortcutsSetting, useTheme } from '../preferences.ts';
import { Facts, Page, Panel, Pending, Time } from '../ui/basics.tsx';
import { CheckField, RadioGroup } from '../ui/fields.tsx';
import { PasswordPanel } from './settings/password.tsx';
import { SessionsPanel } from './settings/sessions.tsx';
import { TotpPanel } from './settings/totp.tsx';

export default function Settings(): ReactElement {
  const read = useRead<Account>('/manage/account');
  return (
    <Page title="Settings">
      {read.data === undefined ? (
        <Pending error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <div className="settings-grid">
          <Panel title="Account">
            <div className="panel-body">
              <Facts
                items={[
                  ['E-mail', read.data.email],
                  ['Plan', read.data.plan],
                  ['Since', <Time key="t" iso={read.data.createdAt} isLong />],
                ]}
              />
            </div>
          </Panel>
          <Appearance />
          <PasswordPanel hasPassword={read.data.hasPassword} />
          <TotpPanel totp={read.data.totp} />
        </div>
      )}
      <SessionsPanel />
    </Page>
  );
}

function Appearance(): ReactElement {
  const theme = useTheme();
  const hasShortcuts = useShortcutsSetting();
  return (
    <Panel title="This browser">
      <div className="panel-body">
        <RadioGroup
          label="Colours"
          value={theme}
          options={[
            ['system', 'System'],
            ['light', 'Light'],
            ['dark', 'Dark'],
          ]}
          onValue={setTheme}
        />
        <CheckField
          label="Single-key shortcuts"
          hint="Press ? on any screen to see them."
          checked={hasShortcuts}
          onCheck={setShortcuts}
        />
      </div>
    </Panel>
  );
}
