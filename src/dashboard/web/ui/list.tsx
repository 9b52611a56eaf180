/** Lists described by data: the source of the rows, the columns, and the text for an empty list. */
import { type ReactElement, type ReactNode, useEffect } from 'react';
import { t } from '../texts/texts.ts';
import type { Rows } from '../api/hooks.ts';
import {
  Button,
  type Column,
  Empty,
  idOf,
  LinkButton,
  Page,
  Panel,
  Pending,
  Table,
  type TableProps,
} from './basics.tsx';
import { type FilterField, FilterBar, type Filtering, type Preset } from './filters.tsx';
import { type IconComponent, Plus } from './icons.tsx';
import { type Bulk, useSelection } from './selection.tsx';
import { useSorting } from './sorting.tsx';

interface ListProps<R> {
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
  const [sorted, columns] = useSorting(rows ?? [], table.columns);
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

/** Buttons for the previous and the next page. Without a handler a button is disabled. */
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
      <Button disabled={onBack === undefined} onClick={onBack}>
        {back}
      </Button>
      <Button disabled={onNext === undefined} onClick={onNext}>
        {next}
      </Button>
    </div>
  );
}

interface Words {
  readonly lead: string;
  readonly add?: string;
  readonly none: string;
  readonly noneText: string;
  /** Shown if no row matches the filters. */
  readonly noneFits?: string;
  readonly noneFitsText?: string;
}

interface ScreenProps<R> extends Omit<ListProps<R>, 'label' | 'none'> {
  readonly title: string;
  readonly words: Words;
  readonly icon?: IconComponent;
  readonly isWide?: boolean;
  /** How to create an object, or the address of its form. The button is in the head, or in the place of an empty list. */
  readonly add?: (() => void) | string | undefined;
  /** Replaces that button in an empty list. */
  readonly noneAction?: ReactNode;
  readonly actions?: ReactNode;
  readonly filters?: Filtering;
  readonly fields?: readonly FilterField[];
  readonly presets?: readonly Preset[];
  /** Between the filters and the list. */
  readonly above?: ReactNode;
  readonly panelTitle?: string;
  readonly panelActions?: ReactNode;
  readonly children?: ReactNode;
}

function Adding({
  by,
  verb,
}: {
  readonly by: ScreenProps<object>['add'];
  readonly verb: string | undefined;
}): ReactNode {
  if (by === undefined) return null;
  const button = { variant: 'primary', icon: Plus } as const;
  return typeof by === 'string' ? (
    <LinkButton href={by} {...button}>
      {verb}
    </LinkButton>
  ) : (
    <Button onClick={by} {...button}>
      {verb}
    </Button>
  );
}

/** A screen that is a list with its filters in the address. */
export function ListScreen<R extends object>(props: ScreenProps<R>): ReactElement {
  const {
    title,
    words,
    icon,
    isWide = false,
    add,
    noneAction = <Adding by={add} verb={words.add} />,
    actions,
    filters,
    fields,
    presets,
    above,
    ...rest
  } = props;
  const { panelTitle, panelActions, children, ...list } = rest;
  const { rows, hasMore = false } = list.list;
  const isFiltered = filters?.isFiltered === true;
  const isAddShown = add !== undefined && ((rows?.length ?? 0) > 0 || isFiltered);
  const isBlank = rows?.length === 0 && !isFiltered && !hasMore;
  return (
    <Page
      isWide={isWide}
      title={title}
      lead={words.lead}
      actions={
        (isAddShown || actions !== undefined) && (
          <>
            {actions}
            {isAddShown && <Adding by={add} verb={words.add} />}
          </>
        )
      }
    >
      {filters !== undefined && fields !== undefined && !isBlank && (
        <FilterBar filters={filters} fields={fields} presets={presets} />
      )}
      {above}
      <Panel title={panelTitle} actions={panelActions}>
        <List
          {...list}
          label={title}
          none={
            isFiltered ? (
              <Empty
                title={words.noneFits ?? words.none}
                action={<Button onClick={filters.clear}>{t.common.showAll}</Button>}
              >
                {words.noneFitsText ?? t.common.removeFilter}
              </Empty>
            ) : (
              <Empty icon={icon} title={words.none} action={noneAction}>
                {words.noneText}
              </Empty>
            )
          }
        />
      </Panel>
      {children}
    </Page>
  );
}
