import { useState, type ReactElement } from 'react';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { showToast } from '../../ui/toast.tsx';
import { Button, Failure, Notice, Panel } from '../../ui/basics.tsx';
import { TextField } from '../../ui/fields.tsx';

const MIN_LENGTH = 12;

export function PasswordPanel({ hasPassword }: { readonly hasPassword: boolean }): ReactElement {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const change = useAction(
    () =>
      request<{ revokedSessions: number }>('POST', '/manage/password', { currentPassword: current, newPassword: next }),
    {
      refreshes: ['/manage/sessions'],
      showsError: true,
      onDone: ({ revokedSessions }) => {
        showToast(
          revokedSessions === 0 ? 'Password changed' : `Password changed, ${revokedSessions} other sessions ended`,
        );
        setCurrent('');
        setNext('');
        setAgain('');
      },
    },
  );
  const isDifferent = again !== '' && next !== again;
  return (
    <Panel title="Password">
      <form
        className="panel-body"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(undefined);
        }}
      >
        {!hasPassword && <Notice>This account has no password; its operator sets the first one.</Notice>}
        <TextField
          label="Present password"
          type="password"
          required
          value={current}
          onText={setCurrent}
          autoComplete="current-password"
          disabled={!hasPassword}
        />
        <TextField
          label="New password"
          type="password"
          required
          minLength={MIN_LENGTH}
          maxLength={200}
          value={next}
          onText={setNext}
          autoComplete="new-password"
          hint={`${MIN_LENGTH} characters or more. All other sessions end.`}
          disabled={!hasPassword}
        />
        <TextField
          label="New password again"
          type="password"
          required
          value={again}
          onText={setAgain}
          autoComplete="new-password"
          error={isDifferent ? 'The two are not the same.' : undefined}
          disabled={!hasPassword}
        />
        <Failure error={change.error} />
        <div className="row end">
          <Button
            look="primary"
            type="submit"
            isBusy={change.isPending}
            disabled={next.length < MIN_LENGTH || next !== again}
          >
            Change the password
          </Button>
        </div>
      </form>
    </Panel>
  );
}
