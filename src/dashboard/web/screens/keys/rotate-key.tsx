/** A new key with the same rights; the former one lives on for a while. */
import { useState, type ReactElement } from 'react';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { ApiKey } from '../../api/types.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { ChoiceField } from '../../ui/fields.tsx';
import type { Issued } from './issued-key.tsx';

const OVERLAPS = [
  ['0', 'At once'],
  ['60', 'In an hour'],
  ['1440', 'In a day'],
  ['10080', 'In a week'],
  ['43200', 'In 30 days'],
] as const;

export function RotateKey(props: {
  readonly apiKey: ApiKey;
  readonly onIssued: (issued: Issued) => void;
  readonly onClose: () => void;
}): ReactElement {
  const { apiKey, onIssued, onClose } = props;
  const [overlap, setOverlap] = useState('60');
  const rotate = useAction(
    () => request<Issued>('POST', `/manage/api-keys/${apiKey.id}/rotate`, { overlapMinutes: Number(overlap) }),
    {
      refreshes: ['/manage/api-keys'],
      showsError: true,
      onDone: onIssued,
    },
  );
  return (
    <FormDialog
      title={`Rotate ${apiKey.name}`}
      verb="Issue the new key"
      isBusy={rotate.isPending}
      error={rotate.error}
      onClose={onClose}
      onSend={() => rotate.mutate(undefined)}
    >
      <p>A new key with the same rights is issued. Put it in place before the present one ends.</p>
      <ChoiceField label="The present key ends" value={overlap} onText={setOverlap} options={OVERLAPS} />
    </FormDialog>
  );
}
