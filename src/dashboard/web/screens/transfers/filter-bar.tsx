/** What the history is narrowed by. Those that are seldom needed are folded away, unless one of them is set. */
import { useEffect, useState, type ReactElement } from 'react';
import { useConnections, useKeys } from '../../api/names.ts';
import { fromWallTime, wallTime } from '../../format.ts';
import { t } from '../../texts/texts.ts';
import { CheckField, ChoiceField, TextField } from '../../ui/fields.tsx';
import type { Filters } from './filters.ts';
import { digestIn } from './proof.tsx';

const TYPING_MS = 250;
const SELDOM = ['since', 'until', 'keyId', 'errorCode', 'requestId'] as const;
const words = t.transfers.filters;

type Options = readonly (readonly [value: string, text: string])[];

function optionsOf(all: string, names: Readonly<Record<string, string>>): Options {
  return [['', all], ...Object.entries(names)];
}

export function FilterBar({
  filters,
  onChange,
}: {
  readonly filters: Filters;
  readonly onChange: (to: Filters) => void;
}): ReactElement {
  const connections = useConnections().map(({ id, name }) => [id, name] as const);
  const keys = useKeys().map(({ id, name }) => [id, name] as const);
  const hasSeldom = SELDOM.some((name) => filters[name] !== undefined);
  return (
    <search className="stack tight">
      <div className="filters">
        <TypedField
          label={words.search}
          type="search"
          placeholder={words.searchHint}
          value={filters.digest ?? filters.search ?? ''}
          onValue={(value) => {
            const digest = digestIn(value);
            onChange({ digest: digest ?? '', search: digest === undefined ? value : '' });
          }}
        />
        <ChoiceField
          label={words.connection}
          value={filters.connectionId ?? ''}
          onText={(value) => onChange({ connectionId: value })}
          options={withUnknown([['', words.all], ...connections], filters.connectionId)}
        />
        <ChoiceField
          label={words.status}
          value={filters.status ?? ''}
          onText={(value) => onChange({ status: value })}
          options={optionsOf(words.all, t.transfers.status)}
        />
        <ChoiceField
          label={words.type}
          value={filters.type ?? ''}
          onText={(value) => onChange({ type: value })}
          options={optionsOf(words.all, t.transfers.types)}
        />
        <ChoiceField
          label={words.direction}
          value={filters.direction ?? ''}
          onText={(value) => onChange({ direction: value })}
          options={optionsOf(words.both, t.transfers.directions)}
        />
        <ChoiceField
          label={words.order}
          value={filters.order ?? 'newest'}
          onText={(value) => onChange({ order: value === 'newest' ? '' : value })}
          options={Object.entries(t.transfers.orders)}
        />
      </div>
      <CheckField
        label={words.lookups}
        checked={filters.lookups === 'true'}
        onCheck={(isShown) => onChange({ lookups: isShown ? 'true' : '' })}
      />
      <details open={hasSeldom}>
        <summary>{words.more}</summary>
        <div className="filters even">
          <TextField
            label={words.after}
            type="datetime-local"
            step={1}
            value={localTime(filters.since)}
            onText={(value) => onChange({ since: isoTime(value) })}
          />
          <TextField
            label={words.before}
            type="datetime-local"
            step={1}
            value={localTime(filters.until)}
            onText={(value) => onChange({ until: isoTime(value) })}
          />
          <ChoiceField
            label={words.key}
            value={filters.keyId ?? ''}
            onText={(value) => onChange({ keyId: value })}
            options={withUnknown([['', words.all], ...keys], filters.keyId)}
          />
          <TypedField
            label={words.errorCode}
            value={filters.errorCode ?? ''}
            onValue={(value) => onChange({ errorCode: value.trim() })}
          />
          <TypedField
            label={words.requestId}
            value={filters.requestId ?? ''}
            onValue={(value) => onChange({ requestId: value.trim() })}
          />
        </div>
      </details>
    </search>
  );
}

/** What the address names may be gone. */
function withUnknown(options: Options, value: string | undefined): Options {
  return value === undefined || options.some(([known]) => known === value) ? options : [...options, [value, value]];
}

/** Waits for a pause in the typing; follows the address when that changes by itself. */
function TypedField(props: {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: string;
  readonly placeholder?: string;
}): ReactElement {
  const { value, onValue, ...field } = props;
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  if (value !== sent) {
    setSent(value);
    setText(value);
  }
  useEffect(() => {
    if (text === sent) return undefined;
    const timer = setTimeout(() => {
      setSent(text);
      onValue(text);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, sent, onValue]);
  return <TextField {...field} value={text} onText={setText} />;
}

function localTime(iso: string | undefined): string {
  const date = new Date(iso ?? '');
  return Number.isNaN(date.getTime()) ? '' : wallTime(date);
}

/** Browsers leave out seconds that are none. */
function isoTime(local: string): string {
  return local === '' ? '' : fromWallTime(local.length === 16 ? `${local}:00` : local).toISOString();
}
