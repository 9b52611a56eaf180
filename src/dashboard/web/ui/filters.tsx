/** The filters of a list. They are kept in the address, and drawn from their descriptions. */
import { type ReactElement, useEffect, useState } from 'react';
import { Link, useLocation, useSearch, useSearchParams } from 'wouter';
import { withQuery } from '../api/client.ts';
import { formatDateTime, formatNumber, inputTime, sinceOf, startOfDay, timeOfInput } from '../format.ts';
import { t } from '../texts/texts.ts';
import { Button, CopyButton } from './basics.tsx';
import { Dialog } from './dialog.tsx';
import { CheckField, ChoiceField, TextField } from './fields.tsx';
import { X } from './icons.tsx';
import { ListFilter } from './later-icons.ts';

export interface Filtering<N extends string = string> {
  readonly values: Readonly<Partial<Record<N, string>>>;
  readonly isFiltered: boolean;
  /** An empty value removes a filter. The list returns to its first page, and keeps its order. */
  readonly change: (to: Readonly<Partial<Record<N, string>>>) => void;
  readonly clear: () => void;
}

export function useFilters<N extends string>(names: readonly N[]): Filtering<N> {
  const [parameters, setParameters] = useSearchParams();
  const values: Partial<Record<N, string>> = {};
  for (const name of names) {
    const value = parameters.get(name);
    if (value !== null && value !== '') values[name] = value;
  }
  return {
    values,
    isFiltered: Object.keys(values).length > 0,
    change: (to) => setParameters(changed(parameters, to), { replace: true }),
    clear: () => setParameters(changed(parameters, Object.fromEntries(names.map((name) => [name, ''])))),
  };
}

function changed(
  parameters: URLSearchParams,
  to: Readonly<Partial<Record<string, string>>>,
): Readonly<Record<string, string>> {
  const next = { ...Object.fromEntries(parameters), offset: '', ...to };
  return Object.fromEntries(Object.entries(next).filter((one): one is [string, string] => (one[1] ?? '') !== ''));
}

type Options = readonly (readonly [value: string, text: string])[];

export type FilterField = {
  readonly label: string;
  /** Folded away on a wide screen. */
  readonly isRare?: boolean;
} & (
  | { readonly name: string }
  /** Sets several filters, or one in another form. */
  | { readonly value: string; readonly to: (value: string) => Readonly<Record<string, string>> }
) &
  (
    | { readonly options: Options; readonly all?: string | false }
    | { readonly kind: 'text' | 'search' | 'time' | 'check'; readonly placeholder?: string }
  );

/** A view that is one click away. */
export interface Preset {
  readonly name: string;
  readonly filters: Readonly<Record<string, string>>;
}

/** The views of a list with the times `since`, which is exclusive, and `until`. */
export function timePresets(): readonly Preset[] {
  const { presets } = t.common;
  return [
    { name: t.common.all, filters: {} },
    { name: presets.today, filters: { since: sinceOf(startOfDay()) } },
    { name: presets.yesterday, filters: { since: sinceOf(startOfDay(1)), until: startOfDay().toISOString() } },
    { name: presets.week, filters: { since: sinceOf(startOfDay(6)) } },
  ];
}

/** The fields of the same times. */
export function timeFields(): readonly FilterField[] {
  const { after, before } = t.transfers.filters;
  return [
    { name: 'since', label: after, kind: 'time', isRare: true },
    { name: 'until', label: before, kind: 'time', isRare: true },
  ];
}

interface BarProps {
  readonly filters: Filtering;
  readonly fields: readonly FilterField[];
  readonly presets?: readonly Preset[] | undefined;
}

/** The views, the filters that are set, and the fields that set them. On a phone, the fields are in a sheet. */
export function FilterBar({ filters, fields, presets }: BarProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const set = fields.filter((field) => isSet(field, filters));
  const often = fields.filter(({ isRare = false }) => !isRare);
  const rare = fields.filter(({ isRare = false }) => isRare);
  const count = set.length === 0 ? '' : ` (${formatNumber(set.length)})`;
  return (
    <search className="filter-bar">
      <div className="filter-views">
        <Button icon={ListFilter} className="phone-only" onClick={() => setOpen(true)}>
          {t.common.filters}
          {count}
        </Button>
        {presets !== undefined && <Presets filters={filters} presets={presets} />}
      </div>
      <div className="filter-fields">
        <div className={often.length === 1 ? 'filters one' : often.length === 2 ? 'filters few' : 'filters'}>
          <FilterFields filters={filters} fields={often} />
        </div>
        {rare.length > 0 && (
          <details open={rare.some((field) => isSet(field, filters))}>
            <summary>{t.common.addFilter}</summary>
            <div className="filters even">
              <FilterFields filters={filters} fields={rare} />
            </div>
          </details>
        )}
      </div>
      {set.length > 0 && (
        <ul className="chips" aria-label={t.common.filtersSet}>
          {set.map((field) => (
            <li key={field.label}>
              <button type="button" className="chip" onClick={() => setTo(field, filters, '')}>
                {field.label}: {textOf(field, valueOf(field, filters))}
                <span className="visually-hidden">{t.common.removeOne}</span>
                <X aria-hidden size={14} />
              </button>
            </li>
          ))}
          <li>
            <CopyButton text={location.href} label={t.common.copyView} variant="quiet" />
          </li>
        </ul>
      )}
      {isOpen && (
        <Dialog title={t.common.filters} size="sheet" onClose={() => setOpen(false)}>
          <div className="filters">
            <FilterFields filters={filters} fields={fields} />
          </div>
          <div className="dialog-actions">
            <Button onClick={filters.clear}>{t.common.showAll}</Button>
            <Button variant="primary" onClick={() => setOpen(false)}>
              {t.words.show}
            </Button>
          </div>
        </Dialog>
      )}
    </search>
  );
}

/** A view is chosen if exactly its filters are set. Check boxes do not count. */
function Presets({ filters: { values }, presets }: { filters: Filtering; presets: readonly Preset[] }): ReactElement {
  const [path] = useLocation();
  const [parameters] = useSearchParams();
  const kept = { columns: parameters.get('columns') ?? '', sort: parameters.get('sort') ?? '' };
  const sorted = (filters: Preset['filters']): string =>
    JSON.stringify(
      Object.entries(filters)
        .filter(([, value]) => value !== 'true')
        .sort(),
    );
  return (
    <nav className="presets" aria-label={t.common.presets.label}>
      {presets.map(({ name, filters }) => (
        <Link
          key={name}
          href={withQuery(path, { ...filters, ...kept })}
          aria-current={sorted(filters) === sorted(values as Preset['filters']) ? 'true' : undefined}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}

function valueOf(field: FilterField, { values }: Filtering): string {
  return 'name' in field ? (values[field.name] ?? '') : field.value;
}

/** An empty value removes the filter. */
function setTo(field: FilterField, filters: Filtering, value: string): void {
  filters.change('name' in field ? { [field.name]: value } : field.to(value));
}

/** A choice that is always made begins with its first option. */
function isSet(field: FilterField, filters: Filtering): boolean {
  const value = valueOf(field, filters);
  const isChoice = 'options' in field && field.all === false;
  return value !== '' && !(isChoice && value === field.options[0]?.[0]);
}

function textOf(field: FilterField, value: string): string {
  if ('options' in field) return field.options.find(([known]) => known === value)?.[1] ?? value;
  if (field.kind === 'time') return formatDateTime(value);
  return field.kind === 'check' ? t.common.yes : value;
}

function FilterFields(props: { readonly filters: Filtering; readonly fields: readonly FilterField[] }) {
  const { filters, fields } = props;
  return fields.map((field) => {
    const { label } = field;
    const value = valueOf(field, filters);
    const change = (to: string): void => setTo(field, filters, to);
    if ('options' in field) {
      const { all = t.common.all } = field;
      const options: Options = all === false ? field.options : [['', all], ...field.options];
      // The object that the address names may no longer exist.
      const isKnown = options.some(([known]) => known === value);
      const shown = isKnown ? options : [...options, [value, value] as const];
      return <ChoiceField key={label} label={label} value={value} onText={change} options={shown} />;
    }
    if (field.kind === 'time') {
      const onText = (text: string): void => change(text === '' ? '' : timeOfInput(text));
      return (
        <TextField
          key={label}
          label={label}
          type="datetime-local"
          step={1}
          value={inputTime(value, 'second')}
          onText={onText}
        />
      );
    }
    if (field.kind === 'check') {
      const onCheck = (isOn: boolean): void => change(isOn ? 'true' : '');
      return <CheckField key={label} label={label} checked={value === 'true'} onCheck={onCheck} />;
    }
    const { kind, placeholder } = field;
    return (
      <TypedField
        key={label}
        label={label}
        type={kind}
        placeholder={placeholder}
        value={value}
        onValue={(text) => change(kind === 'text' ? text.trim() : text)}
      />
    );
  });
}

const TYPING_MS = 250;

/** Waits for a pause in the typing. It also follows changes of the address. */
function TypedField(props: {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type: string;
  readonly placeholder: string | undefined;
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
  return <TextField {...field} maxLength={200} value={text} onText={setText} />;
}

/**
 * Opens the form once if the address contains `?new`, with the other parameters as its input. Other screens and the palette
 * use it.
 */
export function useOpening(onOpen: (start: Readonly<Record<string, string>>) => void): void {
  const search = useSearch();
  const [path, navigate] = useLocation();
  useEffect(() => {
    const { new: isAsked, ...start } = Object.fromEntries(new URLSearchParams(search));
    if (isAsked === undefined) return;
    onOpen(start);
    navigate(path, { replace: true });
  }, [search, path, navigate, onOpen]);
}
