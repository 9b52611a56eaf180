/**
 * No test compares wall-clock time with an upper bound, except files of MEASURES and WAITS, which run alone: elsewhere
 * other processes can take the processor. Lower bounds may be tested anywhere. And no test compares memory with a bound that
 * garbage could reach.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { measures } from '../tiers.js';
import { reachedBy } from './imports.js';
import { FOLDER, ROOT, testFiles } from './selection.js';

const APART = /Math\.abs\([^;]*\bDate\.now\(\)/;
const CLOCK = /\b(performance|Date)\.now\(\)/;

/** A comparison by which a span of time is at most something. */
function bounds(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const [moments, spans] = [new Set<string>(), new Set<string>()];
  const mentions = (node: ts.Node, names: ReadonlySet<string>): boolean =>
    (ts.isIdentifier(node) && names.has(node.text)) ||
    node.getChildren().some((child) => !ts.isFunctionLike(child) && mentions(child, names));
  const isMoment = (node: ts.Node): boolean => CLOCK.test(node.getText()) || mentions(node, moments);
  const isSpan = (node: ts.Node): boolean =>
    (ts.isBinaryExpression(node) &&
      node.operatorToken.kind === ts.SyntaxKind.MinusToken &&
      isMoment(node.left) &&
      isMoment(node.right)) ||
    (ts.isCallExpression(node) && APART.test(node.getText())) ||
    mentions(node, spans) ||
    node.getChildren().some((child) => !ts.isFunctionLike(child) && isSpan(child));
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
      const { initializer } = node;
      if (!ts.isFunctionLike(initializer)) {
        if (isSpan(initializer)) spans.add(node.name.text);
        else if (/^(performance|Date)\.now\(\)$/.test(initializer.getText())) moments.add(node.name.text);
      }
    }
    if (ts.isBinaryExpression(node)) {
      const { operatorToken, left, right } = node;
      const isLess = [ts.SyntaxKind.LessThanToken, ts.SyntaxKind.LessThanEqualsToken].includes(operatorToken.kind);
      const isMore = [ts.SyntaxKind.GreaterThanToken, ts.SyntaxKind.GreaterThanEqualsToken].includes(
        operatorToken.kind,
      );
      if ((isLess && isSpan(left)) || (isMore && isSpan(right))) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        found.push(`${file}:${line + 1}: ${node.getText()}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test('no time is held against a bound but by files that run alone', () => {
  const shared = testFiles().filter((name) => !measures(name));
  const modules = new Set(
    shared.flatMap((name) => [path.join(FOLDER, name), ...reachedBy(path.join(FOLDER, name)).keys()]),
  );
  const sources = readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && modules.has(path.join(FOLDER, name.replace(/\.ts$/, '.js'))))
    .map((name) => [name, readFileSync(path.join(ROOT, 'test', name), 'utf8')] as const)
    // A clock that the test sets itself is not a wall clock.
    .filter(([, text]) => CLOCK.test(text) && !text.includes("mock.method(performance, 'now'"));
  assert.ok(sources.length > 30, 'the sources were not found');
  assert.deepEqual(
    sources.flatMap(([name, text]) => bounds(name, text)),
    [],
  );
});

test('memory of the own process is measured in one place, against that of a small body', () => {
  const measuring = readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('runner'))
    .filter((name) => /\bprocess\.memoryUsage\b/.test(readFileSync(path.join(ROOT, 'test', name), 'utf8')));
  assert.deepEqual(measuring, [path.join('support', 'memory.ts')]);
});

test('what such a comparison looks like', () => {
  const refused = [
    'const a = performance.now(); assert.ok(performance.now() - a < 5);',
    'const a = Date.now(); const took = Date.now() - a; assert.ok(took > 1 && took <= 5_000);',
    'const a = performance.now(); const seconds = (performance.now() - a) / 1000; assert.ok(8 > seconds);',
    'const a = Date.now(); assert.ok(Math.abs(Date.now() - a) < 60_000);',
    'assert.ok(Math.abs(info.modifiedAt.getTime() - Date.now()) < 60_000);',
  ];
  for (const text of refused) assert.equal(bounds('a.ts', text).length, 1, text);
  const fine = [
    'const a = performance.now(); assert.ok(performance.now() - a >= 990);',
    'for (const until = Date.now() + 5; Date.now() < until;) look();',
    'const soon = new Date(Date.now() + 5); assert.ok(soon < other);',
  ];
  for (const text of fine) assert.deepEqual(bounds('a.ts', text), [], text);
});
