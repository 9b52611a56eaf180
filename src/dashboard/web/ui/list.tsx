/** Lists described by data: the source of the rows and the columns. */
import { type ReactElement, type ReactNode, useEffect } from 'react';
import { t } from '../texts/texts.ts';
import type { Rows } from '../api/hooks.ts';
import { Button, type Column, idOf, Pending, Table, type TableProps } from './basics.tsx';
import { type Bulk, useSelection } from './selection.tsx';
import { useSorting } from './sorting.tsx';

export interface ListProps<R> {
  readonly list: Rows<R>;
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rowKey?: (row: R) => string;
  readonly rowClass?: (row: R) => string;
  /** With actions on many rows, each row has a check box. */
  readonly bulk?: Bulk<R> | undefined;
  /** Shown if there are no rows. */
  readonly none: ReactNode;
  /** The label of the button for the next page. */
  readonly more?: string;
  /** Replaces that button below the rows. */
  readonly footer?: ReactNode;
}

/** The rows with a button for more, the state of the read, or the text for an empty list. */
export function List<R extends object>(props: ListProps<R>): ReactElement {
  const { list, none, footer, more = t.common.older, bulk, ...table } = props;
  const { rows, error, refetch, isFetching = false, hasMore = false, fetchMore } = list;
  const isEmpty = rows?.length === 0;
  // A page may be empty and still have a next one, because the gateway scans a limited number of rows per request.
  useEffect(() => {
    if (isEmpty && hasMore && !isFetching) fetchMore?.();
  }, [isEmpty, hasMore, isFetching, fetchMore]);
  const [sorted, columns] = useSorting(rows ?? [], table.columns, !hasMore);
  if (rows === undefined) return <Pending error={error} onRetry={() => void refetch()} />;
  if (isEmpty) {
    const text = hasMore ? t.common.searching : none;
    return typeof text === 'string' ? <p className="panel-body muted">{text}</p> : <>{text}</>;
  }
  return (
    <>
      {bulk === undefined ? (
        <Table {...table} columns={columns} rows={sorted} />
      ) : (
        <SelectableTable {...table} columns={columns} rows={sorted} bulk={bulk} />
      )}
      {footer}
      {hasMore && (
        <div className="panel-body row">
          <Button isBusy={list.isFetchingMore === true} onClick={fetchMore}>
            {more}
          </Button>
        </div>
      )}
    </>
  );
}

function SelectableTable<R extends object>(props: TableProps<R> & { readonly bulk: Bulk<R> }): ReactElement {
  const { bulk, ...table } = props;
  const { column, bar, onKeyDown } = useSelection(table.rows, table.rowKey ?? idOf, bulk);
  return (
    <div onKeyDown={onKeyDown}>
      <Table {...table} columns={[column, ...table.columns]} />
      {bar}
    </div>
  );
}

/** Buttons for the previous and the next page. Without a handler a button does nothing. */
export function Pager(props: {
  readonly back: string;
  readonly next: string;
  readonly onBack: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
}): ReactElement | null {
  const { back, next, onBack, onNext } = props;
  if (onBack === undefined && onNext === undefined) return null;
  return (
    <div className="panel-body row">
      <Button disabledBecause={onBack === undefined && t.common.off.first} onClick={onBack}>
        {back}
      </Button>
      <Button disabledBecause={onNext === undefined && t.common.off.last} onClick={onNext}>
        {next}
      </Button>
    </div>
  );
}
