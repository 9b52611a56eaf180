/** Lists whose rows are all loaded, sorted by a column. The order is part of the address: `sort=name` or `sort=-name`. */
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { locale } from '../preferences.ts';
import type { Column } from './basics.tsx';
import { ArrowDown, ArrowUp } from './icons.tsx';

const collator = new Intl.Collator(locale, { numeric: true });

/** The rows in the order of the address, and the columns with a button in each head that sorts. */
export function useSorting<R>(rows: readonly R[], columns: readonly Column<R>[]): [readonly R[], readonly Column<R>[]] {
  const [parameters, setParameters] = useSearchParams();
  const order = parameters.get('sort') ?? '';
  const isDown = order.startsWith('-');
  const by = isDown ? order.slice(1) : order;
  const sortBy = (name: string): void => {
    const next = new URLSearchParams(parameters);
    next.set('sort', by === name && !isDown ? `-${name}` : name);
    setParameters(next, { replace: true });
  };
  const valueOf = columns.find(({ sort }) => sort?.name === by)?.sort?.valueOf;
  const sorted =
    valueOf === undefined
      ? rows
      : rows.toSorted((a, b) => collator.compare(valueOf(a), valueOf(b)) * (isDown ? -1 : 1));
  const heads = columns.map((column): Column<R> => {
    const { sort, head } = column;
    if (sort === undefined) return column;
    const sorts = sort.name === by ? (isDown ? 'descending' : 'ascending') : 'none';
    return { ...column, sorts, headCell: <SortButton head={head} sorts={sorts} onSort={() => sortBy(sort.name)} /> };
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
