/** The actions on a key, and the new key, which is shown once. */
import { useState, type ReactElement } from 'react';
import { request } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { ApiKey, Connection } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { ShownOnce } from '../../ui/actions.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { ChoiceField } from '../../ui/fields.tsx';
import type { Issued } from './key-form.tsx';

const words = t.keys;

export function IssuedKey(props: {
  readonly issued: Issued;
  readonly connections: readonly Connection[];
  readonly onClose: () => void;
}): ReactElement {
  const { issued, connections, onClose } = props;
  return (
    <ShownOnce
      {...words.issued}
      title={t.words.keyNamed(issued.apiKey.name)}
      codes={[
        { head: words.issued.key, code: issued.key, label: t.words.apiKey },
        { head: words.issued.tryIt, code: curlLine(issued, connections), label: words.issued.curl },
      ]}
      onClose={onClose}
    />
  );
}

function curlLine({ apiKey, key }: Issued, connections: readonly Connection[]): string {
  const header = `curl -H 'Authorization: Bearer ${key}'`;
  const usable = connections.filter(
    ({ id, isActive }) => isActive && (apiKey.connections.length === 0 || apiKey.connections.includes(id)),
  );
  const first = usable[0]?.id;
  if (first !== undefined && apiKey.scopes.includes('read')) return `${header} ${location.origin}/api/list/${first}`;
  if (first !== undefined && apiKey.scopes.includes('write'))
    return `${header} -F file=@hello.txt ${location.origin}/api/upload/${first}`;
  return `${header} ${location.origin}/api/me`;
}

const { overlaps } = words.rotating;
/** In minutes. */
const OVERLAPS = [
  ['0', overlaps.now],
  ['60', overlaps.hour],
  ['1440', overlaps.day],
  ['10080', overlaps.week],
  ['43200', overlaps.month],
] as const;

export function RotateKey(props: {
  readonly apiKey: ApiKey;
  readonly onIssued: (issued: Issued) => void;
  readonly onClose: () => void;
}): ReactElement {
  const { apiKey, onIssued, onClose } = props;
  const { rotating } = words;
  const [overlap, setOverlap] = useState('60');
  const rotate = useAction(
    () => request('POST', `/manage/api-keys/${apiKey.id}/rotate`, { overlapMinutes: Number(overlap) }),
    {
      refreshes: ['/manage/api-keys'],
      showsError: true,
      onDone: onIssued,
    },
  );
  return (
    <FormDialog
      title={rotating.title(apiKey.name)}
      verb={rotating.verb}
      isBusy={rotate.isPending}
      error={rotate.error}
      onClose={onClose}
      onSend={() => rotate.mutate()}
    >
      <p>{rotating.text}</p>
      <ChoiceField label={rotating.ends} term="rotate" value={overlap} onText={setOverlap} options={OVERLAPS} />
    </FormDialog>
  );
}
