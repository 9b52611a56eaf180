/** The fields of a job: what, from where to where, which files, by which rules. Each stands there where the type knows it. */
import { useState, type ReactElement } from 'react';
import { type JobOption, knowsOption } from '../../../../contract/job-options.ts';
import { useConnectionName } from '../../api/names.ts';
import type { Connection, NewJob } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { AreaField, CheckField, ChoiceField, RadioGroup, TextField } from '../../ui/fields.tsx';
import { FolderField } from '../../ui/folder-picker.tsx';
import { useConnectionOptions } from '../connection/status.tsx';
import type { JobDraft } from './draft.ts';
import { bytesOf, secondsOf } from './units.ts';
import { ORDERS } from './words.ts';

const words = t.jobs.form;
/** Units are typed in English, whatever language is shown. */
const SIZES_LIKE = ['500 KiB', '10 MiB'] as const;
const AGES_LIKE = ['90 minutes', '7 days'] as const;

interface FieldsProps {
  readonly draft: JobDraft;
  readonly onChange: (to: Partial<JobDraft>) => void;
}

export function JobFields(props: FieldsProps & { readonly connections: readonly Connection[] }): ReactElement {
  const { draft, onChange } = props;
  return (
    <>
      <RadioGroup
        label={words.what}
        value={draft.type}
        options={Object.entries(ORDERS) as [NewJob['type'], string][]}
        onValue={(type) => onChange({ type })}
      />
      <p className="hint">{t.jobs.hints[draft.type]}</p>
      <Places {...props} />
      <Filters {...props} />
      <Rules {...props} />
      <div className="form-grid">
        {knowsOption(draft.type, 'bytesPerSecond') && (
          <UnitField
            label={words.speed}
            text={draft.speed}
            onText={(speed) => onChange({ speed })}
            read={bytesOf}
            like={SIZES_LIKE}
            hint={words.speedHint}
          />
        )}
        <TextField
          label={words.webhook}
          type="url"
          maxLength={2048}
          value={draft.webhookUrl}
          onText={(webhookUrl) => onChange({ webhookUrl })}
          placeholder="https://"
          hint={words.webhookHint}
        />
      </div>
    </>
  );
}

function Places({
  draft,
  onChange,
  connections,
}: FieldsProps & { readonly connections: readonly Connection[] }): ReactElement {
  const nameOf = useConnectionName();
  const options = useConnectionOptions()(connections);
  // One that is switched off by now can still be seen, and changed.
  const withChosen = (id: string) =>
    options.some(([known]) => known === id) || id === ''
      ? options
      : [...options, [id, words.notActive(nameOf(id))] as const];
  return (
    <>
      <div className="form-grid">
        <ChoiceField
          label={words.from}
          value={draft.sourceId}
          onText={(sourceId) => onChange({ sourceId })}
          options={withChosen(draft.sourceId)}
        />
        <FolderField
          label={words.folder}
          required
          connectionId={draft.sourceId}
          value={draft.sourcePath}
          onText={(sourcePath) => onChange({ sourcePath })}
          placeholder="/reports"
          hint={words.folderHint}
        />
      </div>
      {draft.type !== 'delete' && (
        <div className="form-grid">
          <ChoiceField
            label={words.to}
            value={draft.destinationId}
            onText={(destinationId) => onChange({ destinationId })}
            options={withChosen(draft.destinationId)}
          />
          <FolderField
            label={words.target}
            required
            connectionId={draft.destinationId}
            value={draft.destinationPath}
            onText={(destinationPath) => onChange({ destinationPath })}
            placeholder="/archive/reports"
            hint={words.targetHint}
          />
        </div>
      )}
    </>
  );
}

function Filters({ draft, onChange }: FieldsProps): ReactElement {
  const { maxDepth, minSize, maxSize, minAge, maxAge } = draft;
  const [isOpen] = useState([maxDepth, minSize, maxSize, minAge, maxAge].some((text) => text !== ''));
  return (
    <>
      <div className="form-grid">
        <AreaField
          label={words.include}
          term="glob"
          rows={2}
          value={draft.include}
          onText={(include) => onChange({ include })}
          placeholder="*.csv"
          hint={words.includeHint}
        />
        <AreaField
          label={words.exclude}
          rows={2}
          value={draft.exclude}
          onText={(exclude) => onChange({ exclude })}
          placeholder="*.tmp"
          hint={words.excludeHint}
        />
      </div>
      <details open={isOpen}>
        <summary>{words.bounds}</summary>
        <div className="form-grid">
          <UnitField
            label={words.minSize}
            text={minSize}
            onText={(text) => onChange({ minSize: text })}
            read={bytesOf}
            like={SIZES_LIKE}
          />
          <UnitField
            label={words.maxSize}
            text={maxSize}
            onText={(text) => onChange({ maxSize: text })}
            read={bytesOf}
            like={SIZES_LIKE}
          />
          <UnitField
            label={words.minAge}
            text={minAge}
            onText={(text) => onChange({ minAge: text })}
            read={secondsOf}
            like={AGES_LIKE}
            hint={words.minAgeHint}
          />
          <UnitField
            label={words.maxAge}
            text={maxAge}
            onText={(text) => onChange({ maxAge: text })}
            read={secondsOf}
            like={AGES_LIKE}
          />
          <TextField
            label={words.depth}
            type="number"
            min={1}
            max={100}
            value={maxDepth}
            onText={(text) => onChange({ maxDepth: text })}
            hint={words.depthHint}
          />
        </div>
      </details>
    </>
  );
}

function UnitField(props: {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly read: (text: string) => number | undefined;
  /** Two that can be typed. */
  readonly like: readonly [string, string];
  readonly hint?: string;
}): ReactElement {
  const { label, text, onText, read, like, hint } = props;
  // Nobody is told of a mistake before the unit is typed.
  const [isLeft, setLeft] = useState(false);
  return (
    <TextField
      label={label}
      value={text}
      onText={onText}
      onFocus={() => setLeft(false)}
      onBlur={() => setLeft(true)}
      placeholder={like[1]}
      hint={hint}
      error={isLeft && Number.isNaN(read(text)) ? words.notUnit(like.join(words.or)) : undefined}
    />
  );
}

function Rules({ draft, onChange }: FieldsProps): ReactElement {
  const knows = (option: JobOption): boolean => knowsOption(draft.type, option);
  return (
    <>
      {knows('onConflict') && (
        <ChoiceField
          label={words.conflict}
          value={draft.onConflict}
          onText={(rule) => onChange({ onConflict: rule as JobDraft['onConflict'] })}
          options={Object.entries(t.jobs.conflicts)}
        />
      )}
      {knows('compare') && (
        <ChoiceField
          label={words.compare}
          value={draft.compare}
          onText={(compare) => onChange({ compare: compare as JobDraft['compare'] })}
          options={Object.entries(t.jobs.comparisons)}
        />
      )}
      {knows('deleteExtra') && (
        <CheckField
          label={words.extra}
          hint={words.extraHint}
          checked={draft.deleteExtra}
          onCheck={(deleteExtra) => onChange({ deleteExtra })}
        />
      )}
      {knows('maxDeletes') && draft.deleteExtra && (
        <TextField
          label={words.maxDeletes}
          type="number"
          min={0}
          required
          value={draft.maxDeletes}
          onText={(maxDeletes) => onChange({ maxDeletes })}
          hint={words.maxDeletesHint}
        />
      )}
      {knows('allowEmptySource') && draft.deleteExtra && (
        <CheckField
          label={words.emptySource}
          hint={words.emptySourceHint}
          checked={draft.allowEmptySource}
          onCheck={(allowEmptySource) => onChange({ allowEmptySource })}
        />
      )}
    </>
  );
}
