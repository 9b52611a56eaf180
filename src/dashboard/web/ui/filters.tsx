/** The filters of a list. They are kept in the address, and drawn from their descriptions. */
import { type ReactElement, useEffect, useState } from 'react';
import { useLocation, useSearch, useSearchParams } from 'wouter';
import { inputTime, timeOfInput } from '../format.ts';
import { t } from '../texts/texts.ts';
import { ChoiceField, TextField } from './fields.tsx';

export interface Filtering<N extends string = string> {
  readonly values: Readonly<Partial<Record<N, string>>>;
  readonly isFiltered: boolean;
  /** An empty value removes a filter. The list returns to its first page. */
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
    change: (to) => {
      const next = Object.entries<string | undefined>({ ...values, ...to });
      setParameters(Object.fromEntries(next.filter((one): one is [string, string] => (one[1] ?? '') !== '')), {
        replace: true,
      });
    },
    clear: () => setParameters({}),
  };
}

type Options = readonly (readonly [value: string, text: string])[];

export type FilterField = {
  readonly label: string;
} & (
  | { readonly name: string }
  /** Sets several filters, or one in another form. */
  | { readonly value: string; readonly to: (value: string) => Readonly<Record<string, string>> }
) &
  (
    | { readonly options: Options; readonly all?: string | false }
    | { readonly kind: 'text' | 'search' | 'time'; readonly placeholder?: string }
  );

export function FilterBar({
  filters,
  fields,
}: {
  readonly filters: Filtering;
  readonly fields: readonly FilterField[];
}) {
  return (
    <search className={fields.length === 1 ? 'filters one' : fields.length === 2 ? 'filters few' : 'filters'}>
      <FilterFields filters={filters} fields={fields} />
    </search>
  );
}

export function FilterFields(props: { readonly filters: Filtering; readonly fields: readonly FilterField[] }) {
  const { filters, fields } = props;
  return fields.map((field) => {
    const { label } = field;
    const value = 'name' in field ? (filters.values[field.name] ?? '') : field.value;
    const change = (to: string): void => filters.change('name' in field ? { [field.name]: to } : field.to(to));
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
