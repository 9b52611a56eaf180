/** E-mail and password, then the six digits where they are switched on. */
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { ApiError, request } from '../api/client.ts';
import { rememberSession } from '../api/hooks.ts';
import type { SignedIn } from '../api/types.ts';
import { formatDuration } from '../format.ts';
import icon from '../icon.svg';
import { Button, Notice } from '../ui/basics.tsx';
import { TextField } from '../ui/fields.tsx';

export function Login(): ReactElement {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const codeInput = useRef<HTMLFormElement>(null);

  useEffect(() => {
    document.title = 'Log in – File Transfer Gateway';
  }, []);
  useEffect(() => {
    if (needsCode) codeInput.current?.querySelector<HTMLInputElement>('input[name="code"]')?.focus();
  }, [needsCode]);

  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const signedIn = await request<SignedIn>('POST', '/manage/login', {
        email: email.trim(),
        password,
        ...(needsCode ? { code: code.replace(/\s/g, '') } : {}),
      });
      rememberSession(signedIn);
    } catch (thrown) {
      const failure = thrown instanceof ApiError ? thrown : new ApiError(String(thrown), 0, 'internal', undefined);
      // The first such answer asks for a code; only a later one says that it was wrong.
      if (failure.code === 'totp_required' && !needsCode) setNeedsCode(true);
      else setError(failure);
      setCode('');
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className="login">
      <form
        ref={codeInput}
        className="login-card"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div className="row">
          <img src={icon} width={32} height={32} alt="" />
          <h1>File Transfer Gateway</h1>
        </div>
        {error !== undefined && <Failure error={error} needsCode={needsCode} />}
        {needsCode ? (
          <TextField
            label="Code"
            name="code"
            hint="Six digits from your authenticator app, or one of your recovery codes."
            required
            value={code}
            onText={setCode}
            autoComplete="one-time-code"
          />
        ) : (
          <>
            <TextField
              label="E-mail"
              type="email"
              name="email"
              required
              value={email}
              onText={setEmail}
              autoComplete="username"
            />
            <TextField
              label="Password"
              type="password"
              name="password"
              required
              value={password}
              onText={setPassword}
              autoComplete="current-password"
            />
          </>
        )}
        <Button look="primary" type="submit" isBusy={isBusy}>
          {needsCode ? 'Confirm' : 'Log in'}
        </Button>
        {needsCode ? (
          <Button
            look="quiet"
            onClick={() => {
              setNeedsCode(false);
              setError(undefined);
            }}
          >
            Another account
          </Button>
        ) : (
          <p className="hint">
            A start without a configuration prints a password once. With one, it is the password of your account there.
          </p>
        )}
      </form>
    </main>
  );
}

function Failure({ error, needsCode }: { readonly error: ApiError; readonly needsCode: boolean }): ReactElement {
  if (error.status === 429) {
    const wait = error.retryAfterSeconds;
    return (
      <Notice tone="warn" title="Too many failed attempts" isAlert>
        Logging in is locked
        {wait === undefined
          ? ' for now'
          : ` for another ${formatDuration(Math.ceil(wait / 60) * 60_000).replace(' 0 s', '')}`}
        . The right password does not lift the lock earlier.
      </Notice>
    );
  }
  const title =
    error.status !== 401
      ? 'This did not work'
      : needsCode
        ? 'The code is not right'
        : 'E-mail or password is not right';
  return (
    <Notice tone="bad" title={title} isAlert>
      {error.status === 401
        ? needsCode
          ? 'Codes change every 30 seconds. Check that the clock of your phone is right.'
          : 'Check both and try again. Five failures lock the login for 15 minutes.'
        : error.message}
    </Notice>
  );
}
