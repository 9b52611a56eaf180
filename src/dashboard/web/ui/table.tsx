/** Tables that become a list of cards where the screen is narrow. Roles are spelled out, because `display` takes them away. */
import type { ReactElement, ReactNode } from 'react';

export interface Column<R> {
  readonly head: string;
  readonly cell: (row: R) => ReactNode;
  readonly align?: 'end';
  /** For a column of buttons, whose head is said but not shown. */
  readonly isHeadHidden?: boolean;
}

export function Table<R>(props: {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly rowKey: (row: R) => string;
  readonly rowClass?: (row: R) => string;
}): ReactElement {
  const { label, columns, rows, rowKey, rowClass } = props;
  return (
    <table className="table" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head, align, isHeadHidden }) => (
            <th key={head} role="columnheader" scope="col" className={align}>
              {isHeadHidden === true ? <span className="visually-hidden">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowKey(row)} role="row" className={rowClass?.(row)}>
            {columns.map(({ head, cell, align, isHeadHidden }) => (
              <td key={head} role="cell" className={align} data-label={isHeadHidden === true ? undefined : head}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
