/**
 * One question for many callers. A failure shows as an answer from before the call, or as callers that wait for ever.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedQuestion } from '../../src/storage/postgres/shared-question.js';

/** Questions stay open until the test answers them. */
function openQuestions(): {
  readonly question: SharedQuestion<number>;
  readonly asked: { readonly key: string; readonly answer: (value: number) => void; readonly fail: () => void }[];
} {
  const asked: ReturnType<typeof openQuestions>['asked'] = [];
  const ask = (key: string): Promise<number> =>
    new Promise((answer, reject) => asked.push({ key, answer, fail: () => reject(new Error('away')) }));
  return { question: new SharedQuestion(ask), asked };
}

test('a caller that asks while a question is running shares the next one, and never the one that began before', async () => {
  const { question, asked } = openQuestions();
  const first = question.answer('a');
  const [second, third] = [question.answer('a'), question.answer('a')];
  assert.equal(asked.length, 1);
  asked[0]?.answer(1);
  assert.equal(await first, 1);
  await new Promise(setImmediate);
  assert.equal(asked.length, 2);
  const fourth = question.answer('a');
  asked[1]?.answer(2);
  assert.deepEqual(await Promise.all([second, third]), [2, 2]);
  await new Promise(setImmediate);
  asked[2]?.answer(3);
  assert.equal(await fourth, 3);
  assert.equal(asked.length, 3);
});

test('each key has questions of its own; after the last answer nothing is kept', async () => {
  const { question, asked } = openQuestions();
  const both = [question.answer('a'), question.answer('b')];
  assert.deepEqual(
    asked.map(({ key }) => key),
    ['a', 'b'],
  );
  for (const { answer } of asked) answer(1);
  assert.deepEqual(await Promise.all(both), [1, 1]);
  void question.answer('a');
  assert.equal(asked.length, 3);
});

test('a question that fails fails for all its callers, and the next one is still asked', async () => {
  const { question, asked } = openQuestions();
  const [first, second] = [question.answer('a'), question.answer('a')];
  asked[0]?.fail();
  await assert.rejects(first, /away/);
  await new Promise(setImmediate);
  asked[1]?.answer(2);
  assert.equal(await second, 2);
});
