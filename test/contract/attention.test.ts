/** The kinds of attention items: each has all of its texts, and an item fills them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idsOf, isUrgent, itemKeyOf, wordsOf } from '../../src/attention/items.js';
import {
  ATTENTION,
  ATTENTION_KINDS,
  type AttentionItem,
  attentionPage,
  attentionText,
  attentionTexts,
} from '../../src/contract/attention.js';
import { readSources } from '../../src/docs/sources.js';

const AT = new Date('2026-01-31T12:00:00.000Z');
const facts = {
  id: 'a/b',
  name: 'Warehouse',
  error: 'login refused',
  dueAt: AT,
  expiresAt: AT,
  count: 2,
  used: 1000,
  limit: 1000,
};
const NEEDED = {
  error: ['error'],
  dueAt: ['dueAt'],
  expiresAt: ['expiresAt'],
  count: ['count'],
  month: ['used', 'limit'],
} as const;

/** An item as the gateway finds it. */
function itemOf(kind: keyof typeof ATTENTION): AttentionItem {
  const { about, facts: known } = ATTENTION[kind];
  const names: readonly (keyof typeof facts)[] = [
    ...NEEDED[known],
    ...(about === undefined ? [] : (['id', 'name'] as const)),
  ];
  return { kind, ...Object.fromEntries(names.map((name) => [name, facts[name]])) } as AttentionItem;
}

for (const kind of ATTENTION_KINDS) {
  test(`${kind}: texts in both languages, with its facts and no others`, () => {
    const item = itemOf(kind);
    for (const language of ['en', 'de'] as const) {
      const { title, choice, open } = attentionTexts(language)[kind];
      const said = wordsOf(item, language);
      assert.doesNotMatch(said, /[{}]|undefined|null|: $| {2}/);
      for (const fact of ['name', 'error', 'count'] as const) {
        if (fact in item) assert.ok(said.includes(String(facts[fact])), `${fact}: ${said}`);
      }
      const short = attentionText(title ?? '', { name: 'Warehouse', count: 2, limit: 3 });
      assert.doesNotMatch(`${short} ${choice} ${open}`, /[{}“]\s*[”}]|undefined/);
    }
  });

  test(`${kind}: its page is the one of its subject`, () => {
    const item = itemOf(kind);
    const page = attentionPage(kind, idsOf(item));
    assert.match(page, /^\/(connections|watched|schedules)\/a%2Fb$|^\/(deliveries|watched|usage|keys|jobs)/);
    assert.equal(itemKeyOf(item).startsWith(kind), true);
    assert.equal(typeof isUrgent(item), 'boolean');
  });
}

test('a quota is urgent once it is used up; one item and several have other words', () => {
  assert.equal(isUrgent({ kind: 'quota', used: 900, limit: 1000 }), false);
  assert.equal(isUrgent({ kind: 'quota', used: 1000, limit: 1000 }), true);
  assert.equal(wordsOf({ kind: 'dead_letters', count: 1 }), '1 webhook event could not be delivered');
  assert.equal(wordsOf({ kind: 'dead_letters', count: 2 }), '2 webhook events could not be delivered');
});

test('the page of the management API has a row for each kind', () => {
  const page = readSources().find(({ file }) => file === 'docs/operate/manage-api.md')?.text ?? '';
  for (const kind of ATTENTION_KINDS) assert.ok(page.includes(`| \`${kind}\` | ${ATTENTION[kind].found} |`), kind);
});
