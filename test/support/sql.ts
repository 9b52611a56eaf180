import postgres, { type Row, type Sql } from 'postgres';

export type { Row, Sql };

/** Runs statements of the test's own, beside the storage. */
export async function withSql<T>(url: string, work: (sql: Sql) => PromiseLike<T>): Promise<T> {
  const parsed = new URL(url);
  const folder = parsed.searchParams.get('host');
  parsed.searchParams.delete('host');
  const sql = postgres(parsed.href, {
    max: 1,
    onnotice: () => undefined,
    ...(folder === null ? {} : { path: `${folder}/.s.PGSQL.5432` }),
  });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
