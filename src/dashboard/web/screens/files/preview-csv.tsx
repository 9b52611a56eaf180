/** The rows of a CSV file as a table. */
import Papa from 'papaparse';
import type { ReactElement } from 'react';
import { formatNumber } from '../../format.ts';
import { t } from '../../texts/texts.ts';

const MOST_ROWS = 500;

export function CsvTable({ text, isCut }: { readonly text: string; readonly isCut: boolean }): ReactElement {
  const { data } = Papa.parse<string[]>(text, { skipEmptyLines: true, preview: MOST_ROWS + 1 });
  // The last row of a cut file may be incomplete.
  const [head = [], ...rows] = isCut && data.length <= MOST_ROWS ? data.slice(0, -1) : data;
  return (
    <>
      {rows.length >= MOST_ROWS && <p className="muted">{t.files.preview.firstRows(formatNumber(MOST_ROWS))}</p>}
      <div className="preview-table" tabIndex={0} role="region" aria-label={t.files.preview.rows}>
        <table>
          <thead>
            <tr>
              {head.map((name, index) => (
                <th key={index} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {row.map((cell, column) => (
                  <td key={column}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
