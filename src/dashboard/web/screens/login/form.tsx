/** E-mail address and password, then the six digits if they are switched on. */
import { useEffect, useRef, useState, type ReactElement, type ReactNode } from 'react';
import { ApiError, causeOf, request } from '../../api/client.ts';
import { rememberSession } from '../../api/hooks.ts';
import { t } from '../../texts/texts.ts';
import { Button, Notice } from '../../ui/basics.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Reason } from '../../ui/reason.tsx';

export function LoginForm(props: {
  /** The owner of the ended session. No other account can log in here. */
  readonly email?: string;
  readonly className?: string;
  readonly children?: ReactNode;
  /** Shown below the button until the code is asked for. */
  readonly foot?: ReactNode;
}): ReactElement {
  const { className, children, foot } = props;
  const [email, setEmail] = useState(props.email ?? '');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  useEffect(() => {
    if (needsCode) form.current?.querySelector<HTMLInputElement>('input[name="code"]')?.focus();
  }, [needsCode]);

  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const signedIn = await request('POST', '/manage/login', {
        email: email.trim(),
        password,
        ...(needsCode ? { code: code.replace(/\s/g, '') } : {}),
      });
      rememberSession(signedIn);
    } catch (thrown) {
      const failure = thrown instanceof ApiError ? thrown : new ApiError(String(thrown), 0, 'internal', undefined);
      // The first such answer asks for a code. A later one means that the code was wrong.
      if (failure.code === 'totp_required' && !needsCode) setNeedsCode(true);
      else setError(failure);
      setCode('');
    } finally {
      setBusy(false);
    }
  };

  return (
    <form
      ref={form}
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {children}
      {error !== undefined && <Failure error={error} needsCode={needsCode} />}
      {needsCode ? (
        <TextField
          label={t.login.code}
          name="code"
          hint={t.login.codeHint}
          required
          value={code}
          onText={setCode}
          autoComplete="one-time-code"
        />
      ) : (
        <>
          <TextField
            label={t.login.email}
            type="email"
            name="email"
            required
            readOnly={props.email !== undefined}
            value={email}
            onText={setEmail}
            autoComplete="username"
          />
          <TextField
            label={t.login.password}
            type="password"
            name="password"
            required
            value={password}
            onText={setPassword}
            autoComplete="current-password"
            isFirst
          />
        </>
      )}
      <Button variant="primary" type="submit" isBusy={isBusy}>
        {needsCode ? t.login.confirm : t.login.logIn}
      </Button>
      {needsCode ? (
        <Button
          variant="quiet"
          onClick={() => {
            setNeedsCode(false);
            setError(undefined);
          }}
        >
          {t.login.back}
        </Button>
      ) : (
        foot
      )}
    </form>
  );
}

function Failure({ error, needsCode }: { readonly error: ApiError; readonly needsCode: boolean }): ReactElement {
  const { failures } = t.login;
  if (error.status === 429) {
    const seconds = error.retryAfterSeconds;
    return (
      <Notice tone="warn" title={failures.lockedTitle} isAlert>
        {failures.locked(seconds === undefined ? undefined : Math.ceil(seconds / 60))}
      </Notice>
    );
  }
  const [title, text] =
    error.status !== 401
      ? [failures.other, <Reason {...causeOf(error)} />]
      : needsCode
        ? [failures.codeTitle, failures.code]
        : [failures.passwordTitle, failures.password];
  return (
    <Notice tone="bad" title={title} isAlert>
      {text}
    </Notice>
  );
}
