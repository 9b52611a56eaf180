/** Screens that are a list: its filters, its rows, and what an empty one says. */
import type { ReactElement, ReactNode } from 'react';
import { t } from '../texts/texts.ts';
import { useColumns } from './columns.tsx';
import { Button, Empty, LinkButton, Page, Panel } from './basics.tsx';
import { type FilterField, FilterBar, type Filtering, type Preset } from './filters.tsx';
import { type IconComponent } from './icons.tsx';
import { Plus } from './later-icons.ts';
import { List, type ListProps } from './list.tsx';

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
  const columns = useColumns(list.columns, list.bulk !== undefined);
  const isFiltered = filters?.isFiltered === true;
  const isAddShown = add !== undefined && ((rows?.length ?? 0) > 0 || isFiltered);
  const isBlank = rows?.length === 0 && !isFiltered && !hasMore;
  return (
    <Page
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
          columns={columns}
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
