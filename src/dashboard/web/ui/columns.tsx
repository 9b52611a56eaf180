/** The choice of a list's columns. It is part of the address: `columns=type,size`. */
import * as Ariakit from '@ariakit/react';
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { t } from '../texts/texts.ts';
import type { Column } from './basics.tsx';
import { Check } from './icons.tsx';
import { Columns3 } from './later-icons.ts';
import { useMatches } from './media.ts';

/** A list with fewer columns has no choice. */
const LEAST = 5;

/** Where the style sheet hides secondary columns. Tables with check boxes have more columns. */
const NARROW = [matchMedia('(44rem < width <= 70rem)'), matchMedia('(44rem < width <= 90rem)')] as const;

/** The chosen columns, of which each screen has room for all. The menu is in the head of the last column. */
export function useColumns<R>(all: readonly Column<R>[], hasChecks: boolean): readonly Column<R>[] {
  const [parameters, setParameters] = useSearchParams();
  const isNarrow = useMatches(NARROW[hasChecks ? 1 : 0]);
  const choices = all.slice(1).filter(({ name }) => name !== undefined);
  if (all.length < LEAST || choices.length === 0) return all;
  const asked = parameters.get('columns');
  const visible = choices.filter(({ isSecondary }) => !(isNarrow && isSecondary === true));
  const chosen = asked?.split(',') ?? visible.map(({ name }) => String(name));
  const choose = (names: readonly string[] | undefined): void => {
    const next = new URLSearchParams(parameters);
    if (names === undefined) next.delete('columns');
    else next.set('columns', names.join(','));
    setParameters(next, { replace: true });
  };
  const shown = all
    .filter((column) => asked === null || !choices.includes(column) || chosen.includes(String(column.name)))
    .map((column) => (asked === null ? column : { ...column, isSecondary: false }));
  const last = shown.at(-1);
  const headCell = (
    <>
      <span className="visually-hidden">{last?.isHeadHidden === true && last.head}</span>
      <ColumnMenu choices={choices} chosen={chosen} onChoose={choose} />
    </>
  );
  if (last?.isHeadHidden === true) return [...shown.slice(0, -1), { ...last, headCell }];
  return [...shown, { head: t.lists.columns, isHeadHidden: true, align: 'end', headCell, cell: () => null }];
}

export function ColumnMenu(props: {
  readonly choices: readonly { readonly name?: string; readonly head: string }[];
  readonly chosen: readonly string[];
  readonly onChoose: (names: readonly string[] | undefined) => void;
}): ReactElement {
  const { choices, chosen, onChoose } = props;
  return (
    <Ariakit.MenuProvider
      placement="bottom-end"
      values={{ columns: [...chosen] }}
      setValues={({ columns }) =>
        onChoose(choices.map(({ name }) => String(name)).filter((name) => columns.includes(name)))
      }
    >
      <Ariakit.MenuButton className="icon-button" aria-label={t.lists.columns}>
        <Columns3 aria-hidden size={16} />
      </Ariakit.MenuButton>
      <Ariakit.Menu className="menu" gutter={4} portal>
        {choices.map(({ name = '', head }) => (
          <Ariakit.MenuItemCheckbox key={name} className="menu-item" name="columns" value={name}>
            <Ariakit.MenuItemCheck>
              <Check aria-hidden size={14} />
            </Ariakit.MenuItemCheck>
            {head}
          </Ariakit.MenuItemCheckbox>
        ))}
        <Ariakit.MenuItem className="menu-item" onClick={() => onChoose(undefined)}>
          {t.lists.usualColumns}
        </Ariakit.MenuItem>
      </Ariakit.Menu>
    </Ariakit.MenuProvider>
  );
}
