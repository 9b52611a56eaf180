/** Names of columns, as the driver's functions write them: apart from the types of statements, which load no driver. */
import postgres from 'postgres';

/** A column is `file_size` in the database and `fileSize` here. */
export const columnNames = { column: { from: postgres.toCamel, to: postgres.fromCamel } };

/** The name of a column in the database. */
export const columnOf = (name: string): string => postgres.fromCamel(name);

/** Rows for a library that writes its own statements: it finds each column by both names. */
export function withColumnNames(rows: readonly object[]): Record<string, unknown>[] {
  return rows.map((row) => {
    const both: Record<string, unknown> = { ...row };
    for (const name in row) both[columnOf(name)] = both[name];
    return both;
  });
}
