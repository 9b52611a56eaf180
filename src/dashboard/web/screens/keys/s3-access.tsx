/** The S3 access keys of an API key: listed, made and shown once, deleted. */
import type { ReactElement } from 'react';
import { request, segment } from '../../api/client.ts';
import type { ApiKey, NewS3AccessKey } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { ActionButton, ShownOnce } from '../../ui/actions.tsx';
import { ConfirmAction } from '../../ui/form-dialog.tsx';
import { actions, Button, Mono, Table, Time } from '../../ui/basics.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { READS } from './key-form.tsx';

const words = t.keys.s3;
const { deleting, made } = words;

type Pair = ApiKey['s3'][number];

const at = ({ id }: ApiKey) => `/manage/api-keys/${id}/s3` as const;

export function S3Access(props: {
  readonly apiKey: ApiKey;
  readonly onMade: (made: NewS3AccessKey) => void;
  readonly onDelete: (accessKeyId: string) => void;
  readonly onClose: () => void;
}): ReactElement {
  const { apiKey, onMade, onDelete, onClose } = props;
  const isConfigured = apiKey.source === 'configuration';
  return (
    <Dialog title={words.title(apiKey.name)} onClose={onClose}>
      <p>{words.lead}</p>
      {apiKey.s3.length === 0 ? (
        <p className="muted">{words.none}</p>
      ) : (
        <Table<Pair>
          label={words.list}
          rows={apiKey.s3}
          rowKey={({ accessKeyId }) => accessKeyId}
          columns={[
            { head: words.accessKey, cell: ({ accessKeyId }) => <Mono>{accessKeyId}</Mono> },
            { head: words.createdAt, cell: ({ createdAt }) => <Time iso={createdAt} /> },
            actions<Pair>(({ accessKeyId }) => (
              <Button
                variant="quiet"
                disabledBecause={isConfigured && words.fromFile}
                aria-label={deleting.of(accessKeyId)}
                onClick={() => onDelete(accessKeyId)}
              >
                {t.words.remove}
              </Button>
            )),
          ]}
        />
      )}
      {isConfigured ? (
        <p className="hint">{words.fromFile}</p>
      ) : (
        <div className="dialog-actions">
          <ActionButton<NewS3AccessKey>
            variant="primary"
            run={() => request('POST', at(apiKey))}
            refreshes={READS}
            onDone={onMade}
          >
            {words.add}
          </ActionButton>
        </div>
      )}
    </Dialog>
  );
}

export function MadeS3AccessKey(props: { readonly pair: NewS3AccessKey; readonly onClose: () => void }): ReactElement {
  const { pair, onClose } = props;
  return (
    <ShownOnce
      {...made}
      text={pair.endpoint === null ? `${made.text} ${made.off}` : made.text}
      title={words.title(pair.apiKey.name)}
      codes={[
        { head: words.accessKey, code: pair.accessKeyId, label: words.accessKey },
        { head: made.secret, code: pair.secretAccessKey, label: made.secret },
        ...(pair.endpoint === null ? [] : [{ head: made.endpoint, code: pair.endpoint, label: made.endpoint }]),
        ...(pair.rootEndpoint === null
          ? []
          : [{ head: made.rootEndpoint, code: pair.rootEndpoint, label: made.rootEndpoint }]),
      ]}
      onClose={onClose}
    />
  );
}

export function DeleteS3AccessKey(props: {
  readonly apiKey: ApiKey;
  readonly accessKeyId: string;
  readonly onClose: () => void;
}): ReactElement {
  const { apiKey, accessKeyId, onClose } = props;
  return (
    <ConfirmAction
      title={deleting.title(accessKeyId)}
      verb={deleting.verb}
      run={() => request('DELETE', `${at(apiKey)}/${segment(accessKeyId)}`)}
      says={deleting.done}
      refreshes={READS}
      onClose={onClose}
    >
      <p>{deleting.text}</p>
    </ConfirmAction>
  );
}
