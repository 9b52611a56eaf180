/** The head of the list: sort buttons, and the check box that selects all. */
import type { ReactElement } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { setFileColumns, type Sort, type SortBy } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';
import { ColumnMenu } from '../../ui/columns.tsx';
import { ArrowDown, ArrowUp } from '../../ui/icons.tsx';
import type { FileColumn } from './file-columns.ts';

export function ListHead(props: {
  readonly files: readonly FileInfo[];
  readonly columns: Readonly<Record<'all' | 'shown', readonly FileColumn[]>>;
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
}): ReactElement {
  const { files, columns, sort, onSort, selected, onSelect } = props;
  const isAll = files.length > 0 && selected.size >= files.length;
  const column = (by: SortBy, text: string): ReactElement => {
    const isSorted = sort.by === by;
    const Arrow = sort.isDown ? ArrowDown : ArrowUp;
    return (
      <div
        key={by}
        role="columnheader"
        className={`file-${by}`}
        aria-sort={isSorted ? (sort.isDown ? 'descending' : 'ascending') : 'none'}
      >
        <button type="button" onClick={() => onSort({ by, isDown: isSorted && !sort.isDown })}>
          {text}
          {isSorted && <Arrow aria-hidden size={13} />}
        </button>
      </div>
    );
  };
  return (
    <div role="rowgroup" className="file-head">
      <div role="row" aria-rowindex={1} className="file-row">
        <div role="columnheader" className="file-check">
          <input
            type="checkbox"
            aria-label={t.files.selectAll}
            checked={isAll}
            ref={(box) => {
              if (box !== null) box.indeterminate = selected.size > 0 && !isAll;
            }}
            onChange={() => onSelect(isAll ? new Set() : new Set(files.map(({ path }) => path)))}
          />
        </div>
        {column('name', t.words.name)}
        {columns.shown.map(({ name, head }) =>
          name === 'size' || name === 'modifiedAt' ? (
            column(name, head)
          ) : (
            <div key={name} role="columnheader" className={`file-${name}`}>
              {head}
            </div>
          ),
        )}
        <div role="columnheader" className="file-more">
          <span className="visually-hidden">{t.common.actions}</span>
          <ColumnMenu choices={columns.all} chosen={columns.shown.map(({ name }) => name)} onChoose={setFileColumns} />
        </div>
      </div>
    </div>
  );
}
