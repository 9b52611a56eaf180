/** The fields of a job: what, from where to where, which files, by which rules. Each stands there where the type knows it. */
import { useState, type ReactElement } from 'react';
import { type JobOption, knowsOption } from '../../../../base/job-options.ts';
import type { Connection, NewJob } from '../../api/types.ts';
import { AreaField, CheckField, ChoiceField, RadioGroup, TextField } from '../../ui/fields.tsx';
import type { JobDraft } from './draft.ts';
import { bytesOf, secondsOf } from './units.ts';
import { COMPARISONS, CONFLICTS, ORDERS } from './words.ts';

const HINTS: Readonly<Record<NewJob['type'], string>> = {
  copy: 'Copies each file; the source stays as it is.',
  move: 'Copies each file, then deletes it at the source.',
  sync: 'Brings what is new or has changed; what is the same already costs nothing.',
  delete: 'Deletes each file, and the folders that are empty then. This cannot be undone.',
};

interface FieldsProps {
  readonly draft: JobDraft;
  readonly onChange: (to: Partial<JobDraft>) => void;
}

export function JobFields(props: FieldsProps & { readonly connections: readonly Connection[] }): ReactElement {
  const { draft, onChange } = props;
  return (
    <>
      <RadioGroup
        label="What is to be done"
        value={draft.type}
        options={Object.entries(ORDERS) as [NewJob['type'], string][]}
        onValue={(type) => onChange({ type })}
      />
      <p className="hint">{HINTS[draft.type]}</p>
      <Places {...props} />
      <Filters {...props} />
      <Rules {...props} />
      <div className="form-grid">
        {knowsOption(draft.type, 'bytesPerSecond') && (
          <UnitField
            label="Not faster than, a second"
            text={draft.speed}
            onText={(speed) => onChange({ speed })}
            read={bytesOf}
            like="500 KiB or 10 MiB"
            hint="All its files together. Empty: as fast as it goes."
          />
        )}
        <TextField
          label="Webhook that is told of its end"
          type="url"
          maxLength={2048}
          value={draft.webhookUrl}
          onText={(webhookUrl) => onChange({ webhookUrl })}
          placeholder="https://"
          hint="Receives job.finished, signed. Empty: nobody is told."
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
  const options = connections.map(({ id, name }) => [id, name] as const);
  // One that is switched off by now can still be seen, and changed.
  const withChosen = (id: string) =>
    options.some(([known]) => known === id) || id === '' ? options : [...options, [id, `${id} (not active)`] as const];
  return (
    <>
      <div className="form-grid">
        <ChoiceField
          label="From the connection"
          value={draft.sourceId}
          onText={(sourceId) => onChange({ sourceId })}
          options={withChosen(draft.sourceId)}
        />
        <TextField
          label="Folder there"
          required
          value={draft.sourcePath}
          onText={(sourcePath) => onChange({ sourcePath })}
          placeholder="/reports"
          hint="With all below it. The path of one file works too."
        />
      </div>
      {draft.type !== 'delete' && (
        <div className="form-grid">
          <ChoiceField
            label="To the connection"
            value={draft.destinationId}
            onText={(destinationId) => onChange({ destinationId })}
            options={withChosen(draft.destinationId)}
          />
          <TextField
            label="Folder that takes the files"
            required
            value={draft.destinationPath}
            onText={(destinationPath) => onChange({ destinationPath })}
            placeholder="/archive/reports"
            hint="It is made where it is missing."
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
          label="Only files like"
          rows={2}
          value={draft.include}
          onText={(include) => onChange({ include })}
          placeholder="*.csv"
          hint="One glob a line; with / or ** of the path below the folder, else of the name."
        />
        <AreaField
          label="But not like"
          rows={2}
          value={draft.exclude}
          onText={(exclude) => onChange({ exclude })}
          placeholder="*.tmp"
          hint="Files and folders that are left out."
        />
      </div>
      <details open={isOpen}>
        <summary>Only files of a depth, size or age</summary>
        <div className="form-grid">
          <UnitField
            label="Not smaller than"
            text={minSize}
            onText={(text) => onChange({ minSize: text })}
            read={bytesOf}
            like="500 KiB or 10 MiB"
          />
          <UnitField
            label="Not larger than"
            text={maxSize}
            onText={(text) => onChange({ maxSize: text })}
            read={bytesOf}
            like="500 KiB or 10 MiB"
          />
          <UnitField
            label="Not younger than"
            text={minAge}
            onText={(text) => onChange({ minAge: text })}
            read={secondsOf}
            like="90 minutes or 7 days"
            hint="Since it was modified, when the job begins."
          />
          <UnitField
            label="Not older than"
            text={maxAge}
            onText={(text) => onChange({ maxAge: text })}
            read={secondsOf}
            like="90 minutes or 7 days"
          />
          <TextField
            label="Folders deep at most"
            type="number"
            min={1}
            max={100}
            value={maxDepth}
            onText={(text) => onChange({ maxDepth: text })}
            hint="1: the files of the folder itself."
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
  readonly like: string;
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
      placeholder={like.split(' or ').at(-1)}
      hint={hint}
      error={isLeft && Number.isNaN(read(text)) ? `A number and a unit, such as ${like}.` : undefined}
    />
  );
}

function Rules({ draft, onChange }: FieldsProps): ReactElement {
  const knows = (option: JobOption): boolean => knowsOption(draft.type, option);
  return (
    <>
      {knows('onConflict') && (
        <ChoiceField
          label="A file that is there already"
          value={draft.onConflict}
          onText={(rule) => onChange({ onConflict: rule as JobDraft['onConflict'] })}
          options={Object.entries(CONFLICTS)}
        />
      )}
      {knows('compare') && (
        <ChoiceField
          label="A file has not changed when"
          value={draft.compare}
          onText={(compare) => onChange({ compare: compare as JobDraft['compare'] })}
          options={Object.entries(COMPARISONS)}
        />
      )}
      {knows('deleteExtra') && (
        <CheckField
          label="Delete at the destination what the source does not have"
          hint="After all else, and only when everything could be listed and copied."
          checked={draft.deleteExtra}
          onCheck={(deleteExtra) => onChange({ deleteExtra })}
        />
      )}
      {knows('maxDeletes') && draft.deleteExtra && (
        <TextField
          label="Delete at most so many files"
          type="number"
          min={0}
          required
          value={draft.maxDeletes}
          onText={(maxDeletes) => onChange({ maxDeletes })}
          hint="With more to delete than this, nothing is deleted."
        />
      )}
    </>
  );
}
