/** The second factor. The QR code is drawn here: its secret goes to no other machine. */
import { useMemo, useState, type ReactElement } from 'react';
import { encode } from 'uqr';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Account } from '../../api/types.ts';
import { Badge, Button, CodeBlock, Notice, Panel } from '../../ui/basics.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';

type Step =
  | { readonly kind: 'none' }
  | { readonly kind: 'password'; readonly verb: 'enrol' | 'disable' | 'recovery-codes' }
  | { readonly kind: 'scan'; readonly secret: string; readonly uri: string }
  | { readonly kind: 'codes'; readonly codes: readonly string[] };

const NONE: Step = { kind: 'none' };

export function TotpPanel({ totp }: { readonly totp: Account['totp'] }): ReactElement {
  const [step, setStep] = useState<Step>(NONE);
  const close = (): void => setStep(NONE);
  return (
    <Panel
      title="Second factor"
      actions={totp.isEnabled ? <Badge tone="good">On</Badge> : <Badge tone="warn">Off</Badge>}
    >
      <div className="panel-body">
        <p className="muted">
          {totp.isEnabled
            ? `Logins need a code from your authenticator app. ${totp.recoveryCodesLeft} recovery codes are left.`
            : 'With a code from an authenticator app a stolen password alone opens nothing.'}
        </p>
        <div className="row">
          {totp.isEnabled ? (
            <>
              <Button onClick={() => setStep({ kind: 'password', verb: 'recovery-codes' })}>New recovery codes</Button>
              <Button onClick={() => setStep({ kind: 'password', verb: 'disable' })}>Switch off</Button>
            </>
          ) : (
            <Button look="primary" onClick={() => setStep({ kind: 'password', verb: 'enrol' })}>
              Switch on
            </Button>
          )}
        </div>
      </div>
      {step.kind === 'password' && <AskPassword verb={step.verb} onClose={close} onNext={setStep} />}
      {step.kind === 'scan' && <Scan secret={step.secret} uri={step.uri} onClose={close} onNext={setStep} />}
      {step.kind === 'codes' && <RecoveryCodes codes={step.codes} onClose={close} />}
    </Panel>
  );
}

function AskPassword(props: {
  readonly verb: 'enrol' | 'disable' | 'recovery-codes';
  readonly onClose: () => void;
  readonly onNext: (step: Step) => void;
}): ReactElement {
  const { verb, onClose, onNext } = props;
  const [password, setPassword] = useState('');
  const send = useAction(
    () =>
      request<{ secret?: string; uri?: string; recoveryCodes?: string[] }>('POST', `/manage/totp/${verb}`, {
        password,
      }),
    {
      refreshes: ['/manage/account'],
      showsError: true,
      onDone: ({ secret, uri, recoveryCodes }) => {
        if (secret !== undefined && uri !== undefined) onNext({ kind: 'scan', secret, uri });
        else if (recoveryCodes !== undefined) onNext({ kind: 'codes', codes: recoveryCodes });
        else onClose();
      },
    },
  );
  const title = {
    enrol: 'Switch on the second factor',
    disable: 'Switch off the second factor',
    'recovery-codes': 'New recovery codes',
  }[verb];
  return (
    <FormDialog
      title={title}
      verb="Continue"
      isBusy={send.isPending}
      isReady={password !== ''}
      error={send.error}
      onClose={onClose}
      onSend={() => send.mutate(undefined)}
    >
      {verb === 'recovery-codes' && <p>The former codes stop working.</p>}
      <TextField
        label="Your password"
        type="password"
        required
        value={password}
        onText={setPassword}
        autoComplete="current-password"
        isFirst
      />
    </FormDialog>
  );
}

function Scan(props: {
  readonly secret: string;
  readonly uri: string;
  readonly onClose: () => void;
  readonly onNext: (step: Step) => void;
}): ReactElement {
  const { secret, uri, onClose, onNext } = props;
  const [code, setCode] = useState('');
  const confirm = useAction(
    () => request<{ recoveryCodes: string[] }>('POST', '/manage/totp/confirm', { code: code.replace(/\s/g, '') }),
    {
      refreshes: ['/manage/account'],
      showsError: true,
      onDone: ({ recoveryCodes }) => onNext({ kind: 'codes', codes: recoveryCodes }),
    },
  );
  return (
    <FormDialog
      title="Scan with your authenticator app"
      verb="Switch on"
      size="medium"
      keepsOpen
      isBusy={confirm.isPending}
      isReady={code.trim().length >= 6}
      error={confirm.error}
      onClose={onClose}
      onSend={() => confirm.mutate(undefined)}
    >
      <div className="qr-row">
        <QrCode text={uri} />
        <div className="stack tight">
          <p>Or type this key into the app:</p>
          <CodeBlock code={secret.replace(/(.{4})(?=.)/g, '$1 ')} label="Key for the app" />
        </div>
      </div>
      <TextField
        label="Code that the app shows now"
        required
        inputMode="numeric"
        value={code}
        onText={setCode}
        autoComplete="one-time-code"
      />
    </FormDialog>
  );
}

function QrCode({ text }: { readonly text: string }): ReactElement {
  const { data, size } = useMemo(() => encode(text, { border: 2 }), [text]);
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="QR code of the key"
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }): ReactElement {
  return (
    <Dialog title="Recovery codes" onClose={onClose} size="small" keepsOpen>
      <Notice tone="warn" title="Keep them away from your phone: they are not shown again.">
        Each of them stands in for a code of the app once.
      </Notice>
      <CodeBlock code={codes.join('\n')} label="Recovery codes" />
      <div className="dialog-actions">
        <Button look="primary" onClick={onClose}>
          I have kept them
        </Button>
      </div>
    </Dialog>
  );
}
