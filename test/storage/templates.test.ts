/** Texts of statements that are built while the gateway works: the driver keeps an entry of each template for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf, type Queryable, selecting, tableOf, templateIn } from '../../src/storage/postgres/sql.js';
import { hidden } from '../../src/contract/thing.js';

const fields = { id: hidden<string>(), createdAt: hidden<Date>() };

/** Notes the templates that it is called with, as the driver does. */
function recording() {
  const templates: TemplateStringsArray[] = [];
  const sql = Object.assign((template: TemplateStringsArray) => void templates.push(template), {
    types: { texts: (values: readonly unknown[]) => values },
  });
  return { templates, sql: sql as unknown as Queryable };
}

const BUILT: Readonly<Record<string, readonly [build: (sql: Queryable, value: string) => unknown, text: string]>> = {
  columnsOf: [
    (sql, value) => columnsOf(sql, fields, { table: 't', made: { createdAt: value as never, size: value as never } }),
    't."id" as "id", ? as "created_at", ? as "size"',
  ],
  tableOf: [
    (sql, value) => tableOf(sql, [{ id: value, keyId: value }], { id: 'texts', keyId: 'texts' }),
    'unnest(?, ?) as t (id, key_id)',
  ],
  selecting: [(sql, value) => selecting(sql, { id: value, keyId: value }), '(id, key_id) select ?, ?'],
  templateIn: [(sql, value) => sql(templateIn('a = ? and b = ?'), value, value), 'a = ? and b = ?'],
};

for (const [name, [build, text]] of Object.entries(BUILT)) {
  test(`${name}: however often it is called, there is one template`, () => {
    const { sql, templates } = recording();
    for (const value of ['x', 'y', 'z?']) build(sql, value);
    assert.equal(templates.length, 3);
    assert.equal(new Set(templates).size, 1);
    assert.equal(templates[0]?.join('?'), text);
    assert.deepEqual(templates[0]?.raw, [...templates[0]]);
  });
}
