/** What signs the messages of a webhook: shown once, when it is made. */
import { useState, type ReactElement } from 'react';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { t } from '../../texts/texts.ts';
import { Button, CodeBlock, Notice } from '../../ui/basics.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';

export function NewSecret({
  secret,
  onClose,
}: {
  readonly secret: string;
  readonly onClose: () => void;
}): ReactElement {
  return (
    <Dialog title={t.webhooks.secret.title} onClose={onClose} isShownOnce>
      <Notice tone="warn" title={t.webhooks.secret.copyNow}>
        {t.webhooks.secret.text}
      </Notice>
      <CodeBlock code={secret} label={t.webhooks.secret.label} />
      <div className="dialog-actions">
        <Button look="primary" onClick={onClose}>
          {t.webhooks.secret.done}
        </Button>
      </div>
    </Dialog>
  );
}

export function RotateSecret({ path, onClose }: { readonly path: string; readonly onClose: () => void }): ReactElement {
  const [secret, setSecret] = useState<string>();
  const rotate = useAction(() => request<{ secret: string }>('POST', `${path}/rotate-secret`), {
    showsError: true,
    onDone: (answer) => setSecret(answer.secret),
  });
  if (secret !== undefined) return <NewSecret secret={secret} onClose={onClose} />;
  return (
    <FormDialog
      title={t.webhooks.secret.rotateTitle}
      verb={t.webhooks.secret.rotate}
      isBusy={rotate.isPending}
      error={rotate.error}
      onClose={onClose}
      onSend={() => rotate.mutate(undefined)}
    >
      <p>{t.webhooks.secret.rotateText}</p>
    </FormDialog>
  );
}
