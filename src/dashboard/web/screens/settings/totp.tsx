/** The second factor. The QR code is drawn in the page, so its secret goes to no other machine. */
import { useMemo, useState, type ReactElement } from 'react';
import { encode } from 'uqr';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Account } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { ShownOnce } from '../../ui/actions.tsx';
import { Badge, Button, CodeBlock, Panel } from '../../ui/basics.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Term } from '../../ui/term.tsx';

type Step =
  | { readonly kind: 'none' }
  | { readonly kind: 'password'; readonly verb: 'enrol' | 'disable' | 'recovery-codes' }
  | { readonly kind: 'scan'; readonly secret: string; readonly uri: string }
  | { readonly kind: 'codes'; readonly codes: readonly string[] };

const words = t.settings.totp;
const NONE: Step = { kind: 'none' };

export function TotpPanel({ totp }: { readonly totp: Account['totp'] }): ReactElement {
  const [step, setStep] = useState<Step>(NONE);
  const close = (): void => setStep(NONE);
  return (
    <Panel
      title={words.title}
      actions={totp.isEnabled ? <Badge tone="good">{words.on}</Badge> : <Badge tone="warn">{words.off}</Badge>}
    >
      <div className="panel-body">
        <p className="muted">
          {totp.isEnabled ? words.isOn(totp.recoveryCodesLeft) : words.isOff}{' '}
          <Term of={totp.isEnabled ? 'recoveryCodes' : 'secondFactor'} />
        </p>
        <div className="row">
          {totp.isEnabled ? (
            <>
              <Button onClick={() => setStep({ kind: 'password', verb: 'recovery-codes' })}>{words.newCodes}</Button>
              <Button onClick={() => setStep({ kind: 'password', verb: 'disable' })}>{words.switchOff}</Button>
            </>
          ) : (
            <Button variant="primary" onClick={() => setStep({ kind: 'password', verb: 'enrol' })}>
              {words.switchOn}
            </Button>
          )}
        </div>
      </div>
      {step.kind === 'password' && <AskPassword verb={step.verb} onClose={close} onNext={setStep} />}
      {step.kind === 'scan' && <Scan secret={step.secret} uri={step.uri} onClose={close} onNext={setStep} />}
      {step.kind === 'codes' && (
        <ShownOnce
          title={words.codes}
          warning={words.keep}
          text={words.once}
          codes={[{ code: step.codes.join('\n'), label: words.codes }]}
          kept={words.kept}
          onClose={close}
        />
      )}
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
      request('POST', `/manage/totp/${verb}`, {
        password,
      }),
    {
      refreshes: ['/manage/account'],
      showsError: true,
      onDone: (answer) => {
        if ('secret' in answer) onNext({ kind: 'scan', ...answer });
        else if ('recoveryCodes' in answer) onNext({ kind: 'codes', codes: answer.recoveryCodes });
        else onClose();
      },
    },
  );
  return (
    <FormDialog
      title={words.titles[verb]}
      verb={words.next}
      isBusy={send.isPending}
      error={send.error}
      onClose={onClose}
      onSend={() => send.mutate(undefined)}
    >
      {verb === 'recovery-codes' && <p>{words.formerStop}</p>}
      <TextField
        label={words.yourPassword}
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
  const confirm = useAction(() => request('POST', '/manage/totp/confirm', { code: code.replace(/\s/g, '') }), {
    refreshes: ['/manage/account'],
    showsError: true,
    onDone: ({ recoveryCodes }) => onNext({ kind: 'codes', codes: recoveryCodes }),
  });
  return (
    <FormDialog
      title={words.scan}
      verb={words.switchOn}
      isDirty={false}
      size="medium"
      keepsOpen
      isBusy={confirm.isPending}
      error={confirm.error}
      onClose={onClose}
      onSend={() => confirm.mutate(undefined)}
    >
      <div className="qr-row">
        <QrCode text={uri} />
        <div className="stack tight">
          <p>{words.orType}</p>
          <CodeBlock code={secret.replace(/(.{4})(?=.)/g, '$1 ')} label={words.keyForApp} />
        </div>
      </div>
      <TextField
        label={words.code}
        required
        minLength={6}
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
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={words.qr} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
