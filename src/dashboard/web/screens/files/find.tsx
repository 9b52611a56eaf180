/** The search: in the current folder while the user types, or in all folders below it by the gateway. */
import type { ReactElement } from 'react';
import { useLocation } from 'wouter';
import type { Connection } from '../../api/types.ts';
import { formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { Button, Failure } from '../../ui/basics.tsx';
import { ChoiceField, TextField } from '../../ui/fields.tsx';
import { Search } from '../../ui/icons.tsx';
import { useConnectionOptions } from '../../ui/connection-status.tsx';
import { folderAddress } from './links.ts';
import type { TreeSearch } from './tree-search.ts';

/** The glob made from the text also has a maximum length. */
const LONGEST = 200;

export function FindBar(props: {
  readonly connectionId: string;
  readonly connections: readonly Connection[];
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onBelow: () => void;
}): ReactElement {
  const { connectionId, connections, text, onText, onBelow } = props;
  const [, navigate] = useLocation();
  const optionsOf = useConnectionOptions();
  return (
    <form
      className="files-bar"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') onBelow();
      }}
    >
      <ChoiceField
        label={t.words.connection}
        value={connectionId}
        onText={(id) => navigate(folderAddress(id, ''))}
        options={optionsOf(connections)}
      />
      <TextField
        label={t.files.find.label}
        type="search"
        maxLength={LONGEST}
        value={text}
        onText={onText}
        placeholder={t.files.find.placeholder}
      />
      <Button
        icon={Search}
        type="submit"
        aria-label={t.files.find.below}
        disabledBecause={text.trim() === '' && t.form.faults.missing}
      >
        <span>{t.files.find.below}</span>
      </Button>
    </form>
  );
}

export function SearchState(props: {
  readonly search: TreeSearch;
  readonly folder: string;
  readonly onStop: () => void;
  readonly onEnd: () => void;
}): ReactElement {
  const { search, folder, onStop, onEnd } = props;
  const { state, found, text, error } = search;
  return (
    <div className="selection-bar">
      <span role="status">{t.files.find.states[state](formatNumber(found.length), text, folder)}</span>
      {state === 'running' && <Button onClick={onStop}>{t.files.find.stop}</Button>}
      <Button variant="quiet" onClick={onEnd}>
        {t.files.find.end}
      </Button>
      <Failure error={error} title={t.files.find.failed} />
    </div>
  );
}

export function ListFoot({ shown, all }: { readonly shown: number; readonly all: number }): ReactElement {
  return (
    <p className="files-foot muted small" role="status">
      {shown === all
        ? t.files.entries(shown, formatNumber(shown))
        : t.files.entriesOf(shown, formatNumber(shown), formatNumber(all))}
    </p>
  );
}
