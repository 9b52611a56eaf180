/** What signs the messages of a webhook: shown once, when it is made. */
import { useState, type ReactElement } from 'react';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
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
    <Dialog title="The signing secret" onClose={onClose} isShownOnce>
      <Notice tone="warn" title="Copy it now: it is not shown again.">
        The receiver checks each message with it, as Standard Webhooks describe. A lost one is replaced, not found.
      </Notice>
      <CodeBlock code={secret} label="Signing secret" />
      <div className="dialog-actions">
        <Button look="primary" onClick={onClose}>
          I have copied it
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
      title="Make a new signing secret?"
      verb="Make a new one"
      isBusy={rotate.isPending}
      error={rotate.error}
      onClose={onClose}
      onSend={() => rotate.mutate(undefined)}
    >
      <p>
        Messages are signed with it from now on. The present one signs along for 24 hours: give the receiver the new
        one.
      </p>
    </FormDialog>
  );
}
