/** What a link is for, and how far it goes. */
import { type ReactElement, useState } from 'react';
import type { Connection, NewLink } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { CheckField, ChoiceField, RadioGroup, TextField } from '../../ui/fields.tsx';
import { FolderField } from '../../ui/folder-picker.tsx';
import { useConnectionOptions } from '../connection/status.tsx';

const words = t.links.form;
const HOUR_MS = 3_600_000;
const MEGABYTE = 1_000_000;
/** In hours. */
const LIVES = [
  ['1', words.lives.hour],
  ['24', words.lives.day],
  ['168', words.lives.week],
  ['720', words.lives.month],
  ['2160', words.lives.quarter],
] as const;

/** What is known before it opens. */
export interface LinkStart {
  readonly operation?: string;
  readonly connectionId?: string;
  readonly path?: string;
}

export function LinkForm(props: {
  readonly start: LinkStart;
  readonly connections: readonly Pick<Connection, 'id' | 'name' | 'isActive'>[];
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onSave: (input: NewLink) => void;
  readonly onClose: () => void;
}): ReactElement {
  const { start, connections, isBusy, error, onSave, onClose } = props;
  const [operation, setOperation] = useState<NewLink['operation']>(
    start.operation === 'download' ? 'download' : 'upload',
  );
  const [chosen, setChosen] = useState(start.connectionId);
  const [path, setPath] = useState(start.path ?? '');
  const [hours, setHours] = useState('168');
  const [uses, setUses] = useState('');
  const [megabytes, setMegabytes] = useState('');
  const [filename, setFilename] = useState('');
  const [overwrites, setOverwrites] = useState(false);
  const [digest, setDigest] = useState('');
  // They may come after the form.
  const connectionId = chosen ?? connections[0]?.id ?? '';
  const isUpload = operation === 'upload';
  const optionsOf = useConnectionOptions();
  const areNumbers = [uses, megabytes].every((text) => text === '' || Number(text) > 0);
  const save = (): void => {
    const given = {
      ...(uses === '' ? {} : { maxUses: Number(uses) }),
      ...(megabytes === '' ? {} : { maxBytes: Math.round(Number(megabytes) * MEGABYTE) }),
      ...(filename === '' ? {} : { filename }),
      ...(digest === '' ? {} : { digest: `sha-256:${digest.trim().replace(/^sha-?256:/i, '')}` }),
      ...(isUpload && overwrites ? { overwrite: true } : {}),
    };
    const expiresAt = new Date(Date.now() + Number(hours) * HOUR_MS).toISOString();
    onSave({ operation, connectionId, path: path.trim(), expiresAt, ...given });
  };
  return (
    <FormDialog
      title={words.title}
      verb={words.verb}
      size="medium"
      keepsOpen
      isBusy={isBusy}
      isReady={connectionId !== '' && path.trim() !== '' && areNumbers}
      error={error}
      onClose={onClose}
      onSend={save}
    >
      <RadioGroup
        label={words.operation}
        value={operation}
        options={[
          ['upload', words.upload],
          ['download', words.download],
        ]}
        onValue={setOperation}
      />
      <ChoiceField label={words.connection} value={connectionId} onText={setChosen} options={optionsOf(connections)} />
      <FolderField
        label={isUpload ? words.folder : words.file}
        hint={isUpload ? words.folderHint : words.fileHint}
        required
        connectionId={connectionId}
        value={path}
        onText={setPath}
      />
      <div className="form-grid">
        <ChoiceField label={words.life} value={hours} onText={setHours} options={LIVES} />
        <TextField label={words.uses} type="number" min={1} value={uses} onText={setUses} hint={words.usesHint} />
        <TextField
          label={words.most}
          type="number"
          min={0}
          step="any"
          value={megabytes}
          onText={setMegabytes}
          hint={words.mostHint}
        />
        <TextField
          label={words.filename}
          value={filename}
          onText={setFilename}
          maxLength={255}
          hint={isUpload ? words.filenameHint : words.saveAsHint}
        />
      </div>
      <details>
        <summary>{words.more}</summary>
        <div className="stack">
          <TextField
            label="SHA-256"
            value={digest}
            onText={setDigest}
            maxLength={72}
            hint={isUpload ? words.digestHint : words.digestOfDownloadHint}
          />
          {isUpload && (
            <CheckField
              label={words.overwrite}
              hint={words.overwriteHint}
              checked={overwrites}
              onCheck={setOverwrites}
            />
          )}
        </div>
      </details>
    </FormDialog>
  );
}
