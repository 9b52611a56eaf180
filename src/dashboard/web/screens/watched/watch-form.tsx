/** The form of a new or edited watched folder. */
import type { ReactElement } from 'react';
import { useLocation } from 'wouter';
import { useRead } from '../../api/hooks.ts';
import type { WatchedFolder } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { LinkButton } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import type { Draft } from '../../ui/draft.ts';
import { ThingDialog, useForm } from '../../ui/form.tsx';

const words = t.watched.form;

/** The actions after a delivery need a webhook or a copy. */
const hasEnd = (draft: Draft): boolean =>
  String(draft['webhookUrl']).trim() !== '' || draft['copyTo.connectionId'] !== '';

export function WatchForm(props: { readonly former?: WatchedFolder; readonly onClose: () => void }): ReactElement {
  const { former, onClose } = props;
  const connections = useRead('/manage/connections').data?.connections;
  const [, navigate] = useLocation();
  const form = useForm(['watchedFolder'], {
    former,
    keepAs: former === undefined ? 'watchedFolder' : undefined,
    asks: (name, draft) => name !== 'moveTo' || draft['afterDelivery'] === 'move',
    adjust: (draft) => (hasEnd(draft) ? draft : { ...draft, afterDelivery: 'keep' }),
  });
  if (former === undefined && connections?.some(({ isActive }) => isActive) === false) {
    return (
      <Dialog title={t.watched.add} onClose={onClose} size="small">
        <p>{words.needsConnection}</p>
        <div className="dialog-actions">
          <LinkButton href="/connections/new" variant="primary">
            {t.connections.add}
          </LinkButton>
        </div>
      </Dialog>
    );
  }
  return (
    <ThingDialog<WatchedFolder>
      form={form}
      former={former}
      at="/manage/watched-folders"
      title={former === undefined ? t.watched.add : t.words.editing(former.name)}
      verb={former === undefined ? words.addVerb : t.form.save}
      says={former === undefined ? words.added : t.form.saved}
      onDone={({ id }) => (former === undefined ? navigate(`/watched/${id}`) : onClose())}
      onClose={onClose}
      groups={[
        { names: ['connectionId', 'path', 'name', 'scheduleMinutes', 'filePattern', 'excludePattern'] },
        { names: ['webhookUrl', 'detectModified', 'recursive'], isPlain: true },
        { names: ['copyTo'] },
        {
          title: t.form.more,
          names: ['initial', 'doneFile', 'minAgeSeconds', 'expectEveryMinutes', 'afterDelivery', 'moveTo'],
        },
      ]}
      special={{
        // The connection cannot be changed.
        connectionId: former === undefined ? {} : { draw: () => null },
        path: { isFirst: true, ...(former === undefined ? {} : { hint: words.folderAnew }) },
        filePattern: { term: 'glob' },
        webhookUrl: { term: 'webhook' },
        initial: { term: 'baseline' },
        afterDelivery: hasEnd(form.draft) ? {} : { isDisabled: true, hint: words.afterNeeds },
        'copyTo.connectionId': { term: 'route' },
        'copyTo.path': { isRequired: true, placeholder: '/from-partner' },
        'copyTo.filename_template': { placeholder: '{date}-{filename}' },
      }}
    />
  );
}
