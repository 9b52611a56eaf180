/**
 * Lists that are sorted by a column. The order is part of the address: `sort=name` or `sort=-name` if all rows are loaded,
 * `order=largest` if the gateway sorts.
 */
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { locale } from '../preferences.ts';
import type { Column } from './basics.tsx';
import { ArrowDown, ArrowUp } from './icons.tsx';

const collator = new Intl.Collator(locale, { numeric: true });
/** The order of the gateway without a parameter. */
const USUAL = 'newest';

/** The rows in the order of the address, and the columns with a button in each head that sorts. */
export function useSorting<R>(
  rows: readonly R[],
  columns: readonly Column<R>[],
  isWhole: boolean,
): [readonly R[], readonly Column<R>[]] {
  const [parameters, setParameters] = useSearchParams();
  const asked = { sort: parameters.get('sort') ?? '', order: parameters.get('order') ?? USUAL };
  const set = (parameter: keyof typeof asked, value: string): void => {
    const next = new URLSearchParams(parameters);
    if (value === USUAL) next.delete(parameter);
    else next.set(parameter, value);
    setParameters(next, { replace: true });
  };
  const isDown = asked.sort.startsWith('-');
  const by = columns.find(({ name }) => name === asked.sort.replace('-', ''))?.sort;
  const sorted =
    by === undefined || !isWhole ? rows : rows.toSorted((a, b) => collator.compare(by(a), by(b)) * (isDown ? -1 : 1));
  const heads = columns.map((column): Column<R> => {
    const { name = '', sort, orders, head } = column;
    if (orders === undefined && (sort === undefined || !isWhole)) return column;
    const parameter = orders === undefined ? 'sort' : 'order';
    const [down, up = USUAL] = orders ?? [`-${name}`, name];
    const now = asked[parameter];
    const sorts = now === down ? 'descending' : now === up && up !== USUAL ? 'ascending' : 'none';
    // The first click shows the first names, or the largest files.
    const [first, second] = orders === undefined ? [up, down] : [down, up];
    const onSort = (): void => set(parameter, now === first ? second : first);
    return { ...column, sorts, headCell: <SortButton head={head} sorts={sorts} onSort={onSort} /> };
  });
  return [sorted, heads];
}

function SortButton(props: {
  readonly head: string;
  readonly sorts: NonNullable<Column<never>['sorts']>;
  readonly onSort: () => void;
}): ReactElement {
  const { head, sorts, onSort } = props;
  const Arrow = sorts === 'descending' ? ArrowDown : ArrowUp;
  return (
    <button type="button" className="sort-button" onClick={onSort}>
      {head}
      {sorts !== 'none' && <Arrow aria-hidden size={13} />}
    </button>
  );
}
