/** The signing secret of a new webhook, shown once. */
import { useState, type ReactElement } from 'react';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { t } from '../../texts/texts.ts';
import { ShownOnce } from '../../ui/actions.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';

const words = t.webhooks.secret;

export function NewSecret(props: { readonly secret: string; readonly onClose: () => void }): ReactElement {
  return <ShownOnce {...words} codes={[{ code: props.secret, label: words.label }]} onClose={props.onClose} />;
}

export function RotateSecret({
  path,
  onClose,
}: {
  readonly path: `/api/webhooks/${string}`;
  readonly onClose: () => void;
}): ReactElement {
  const [secret, setSecret] = useState<string>();
  const rotate = useAction(() => request('POST', `${path}/rotate-secret`), {
    showsError: true,
    onDone: (answer) => setSecret(answer.secret),
  });
  if (secret !== undefined) return <NewSecret secret={secret} onClose={onClose} />;
  return (
    <FormDialog
      title={words.rotateTitle}
      verb={words.rotate}
      isBusy={rotate.isPending}
      error={rotate.error}
      onClose={onClose}
      onSend={() => rotate.mutate()}
    >
      <p>{words.rotateText}</p>
    </FormDialog>
  );
}
