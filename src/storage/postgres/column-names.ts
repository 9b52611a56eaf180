/** Names of columns, without the driver, so that pure modules know the shapes of rows and load no driver. */

/** The column of a field: `fileSize` is `file_size` in the database. */
export function columnOf(name: string): string {
  return separated(name, '_');
}

/** A row by its columns. */
export function inColumns(row: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).map(([name, value]: [string, unknown]) => [columnOf(name), value]));
}

/** Rows for a library that writes its own statements: each column has both names. */
export function withColumnNames(rows: readonly object[]): Record<string, unknown>[] {
  return rows.map((row) => {
    const both: Record<string, unknown> = { ...row };
    for (const name in row) both[columnOf(name)] = both[name];
    return both;
  });
}
import { separated } from '../../base/letters.js';
