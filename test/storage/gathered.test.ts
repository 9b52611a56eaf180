/** Many questions in few statements. A failure shows as a wrong answer, or as callers that wait for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gathered } from '../../src/storage/postgres/gathered.js';

/** Statements stay open until the test answers them. */
function openStatements(): {
  readonly gathered: Gathered<number, string>;
  readonly asked: {
    readonly questions: readonly number[];
    readonly answer: () => void;
    readonly fail: () => void;
  }[];
} {
  const asked: ReturnType<typeof openStatements>['asked'] = [];
  const ask = (questions: readonly number[]): Promise<readonly string[]> =>
    new Promise((resolve, reject) => {
      const answer = (): void => resolve(questions.map(String));
      asked.push({ questions, answer, fail: () => reject(new Error('away')) });
    });
  return { gathered: new Gathered(ask), asked };
}

const turn = (): Promise<void> => new Promise(setImmediate);

test('those of one turn share a statement, and those that come while it runs share the next', async () => {
  const { gathered, asked } = openStatements();
  const first = [gathered.answer(1), gathered.answer(2)];
  await turn();
  const second = [gathered.answer(3), gathered.answer(4)];
  await turn();
  assert.deepEqual(
    asked.map(({ questions }) => questions),
    [[1, 2]],
  );
  asked[0]?.answer();
  assert.deepEqual(await Promise.all(first), ['1', '2']);
  await turn();
  assert.deepEqual(asked[1]?.questions, [3, 4]);
  asked[1]?.answer();
  assert.deepEqual(await Promise.all(second), ['3', '4']);
  const third = gathered.answer(5);
  await turn();
  asked[2]?.answer();
  assert.equal(await third, '5');
  assert.equal(asked.length, 3);
});

test('a statement that fails rejects those that share it, and no others', async () => {
  const { gathered, asked } = openStatements();
  const failed = gathered.answer(1);
  await turn();
  const next = gathered.answer(2);
  asked[0]?.fail();
  await assert.rejects(failed, /away/);
  await turn();
  asked[1]?.answer();
  assert.equal(await next, '2');
});
