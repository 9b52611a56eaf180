/**
 * All texts of the page are in its catalogue, in both languages: the test parses the sources and searches them for
 * visible texts.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';

const WEB = fileURLToPath(new URL('../../../src/dashboard/web', import.meta.url));

/** Screens whose texts have not been moved yet. */
const NOT_YET: readonly string[] = [];

/** Without a catalogue, the page has to say in both languages that it could not be loaded. */
const BEFORE_THE_CATALOGUE = ['main.tsx'];

/** Properties and attributes whose text is shown or read aloud. */
const SAID = new Set(
  'title label aria-label placeholder alt hint verb lead text says head discard description error'.split(' '),
);
/** Attributes whose text is invisible. */
const UNSAID = new Set('className class d viewBox transform strokeLinecap pattern href to data-label'.split(' '));
/** Names, examples and units that are the same in every language. */
const NO_WORDS =
  /^(?:GET|POST|SHA-?256:?…?|SFTP|FTPS?|S3|AWS|UTC|JSON|NDJSON|CSV|API|URL|curl|ftg_|https?:\S*|[\d.]+\/\d+|\S*[-_./{}*@]\S*)$/;
/** German words that are also English ones. */
const SAME = new Set(
  (
    'File Transfer Gateway System Name Server Port Webhook Webhooks Job Jobs Version ETag cron min ms in Enter Backspace Space Delete ' +
    'Region Bucket Status Host Pools Download Upload Uploads Details Text Login Test Passphrase Alarm Start Pause Filter Link Links Plan ' +
    'Token Byte Bytes KiB MiB GiB Ping Code Format Cluster Sync Limit Limits Trend Budget Live Logo Cron Shift F10 Standard CloudEvents'
  ).split(' '),
);

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly words: string;
}

function sources(): string[] {
  return readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .map((name) => name.split(path.sep).join('/'))
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('texts/') && !name.endsWith('.d.ts'))
    .sort();
}

function findingsIn(file: string, content = readFileSync(path.join(WEB, file), 'utf8')): Finding[] {
  const source = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: Finding[] = [];
  const note = (node: ts.Node, words: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push({ file, line: line + 1, words: words.replace(/\s+/g, ' ').trim() });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isJsxElement(node) && node.openingElement.tagName.getText(source) === 'code') return;
    if (ts.isJsxAttribute(node) && UNSAID.has(node.name.getText(source))) return;
    if (ts.isJsxText(node) && hasWord(node.text)) note(node, node.text);
    else if (ts.isStringLiteralLike(node) && isSaid(node, node.text, source)) note(node, node.text);
    else if (ts.isTemplateExpression(node)) {
      const words = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…');
      if (isSaid(node, words, source)) note(node, words);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function hasWord(text: string): boolean {
  return text.split(/\s+/).some((word) => /\p{L}{2}/u.test(word) && !NO_WORDS.test(word));
}

/** A visible text, by its position in the code, or because it is plainly a sentence. */
function isSaid(node: ts.Node, words: string, source: ts.SourceFile): boolean {
  if (!hasWord(words)) return false;
  if (/^[A-Z][\p{L}'’]* \p{L}/u.test(words) && !isThrown(node)) return true;
  const at = valueOf(node);
  if (ts.isJsxAttribute(at)) {
    const name = at.name.getText(source);
    // Names and commands in examples.
    return SAID.has(name) && !(['placeholder', 'text'].includes(name) && /^[a-z ]+$/.test(words));
  }
  if (ts.isPropertyAssignment(at)) return SAID.has(at.name.getText(source).replace(/'/g, '')) && /^\p{Lu}/u.test(words);
  if (ts.isCallExpression(at)) return at.expression.getText(source) === 'showToast' && isFirst(node, at);
  return ts.isJsxExpression(at) && !ts.isJsxAttribute(at.parent);
}

function isFirst(node: ts.Node, { arguments: [first] }: ts.CallExpression): boolean {
  return first !== undefined && node.getStart() >= first.getStart() && node.getEnd() <= first.getEnd();
}

/** The place where the value is used: outside brackets, conditions and the braces of an attribute. */
function valueOf(node: ts.Node): ts.Node {
  let at = node.parent;
  for (;;) {
    const isChoice =
      (ts.isConditionalExpression(at) && at.condition !== node) ||
      (ts.isBinaryExpression(at) &&
        at.right === node &&
        ['&&', '||', '??', '+'].includes(at.operatorToken.getText())) ||
      ts.isParenthesizedExpression(at) ||
      (ts.isJsxExpression(at) && ts.isJsxAttribute(at.parent));
    if (!isChoice) return at;
    node = at;
    at = at.parent;
  }
}

/** The text of an internal error, which users should never see. */
function isThrown(node: ts.Node): boolean {
  return ts.isNewExpression(node.parent) && ts.isThrowStatement(node.parent.parent);
}

test('all visible texts are in the catalogue and nowhere else', (t) => {
  const all = sources();
  assert.ok(all.length > 50, `${all.length} sources`);
  const stray: string[] = [];
  for (const file of all) {
    if (BEFORE_THE_CATALOGUE.includes(file)) continue;
    const found = findingsIn(file);
    if (NOT_YET.includes(file)) {
      if (found.length === 0) t.diagnostic(`${file} has no other texts any more: remove it from the list`);
    } else stray.push(...found.map(({ line, words }) => `${file}:${line} ${words}`));
  }
  assert.deepEqual(stray, []);
});

test('a text outside of the catalogue is found wherever it is', () => {
  const found = (code: string): string[] => findingsIn('x.tsx', code).map(({ words }) => words);
  assert.deepEqual(found('<p>Hello</p>'), ['Hello']);
  assert.deepEqual(found('<p title="Hello" className="not this" />'), ['Hello']);
  assert.deepEqual(found("<p aria-label={isOn ? 'On' : `Off ${x}`} />"), ['On', 'Off …']);
  assert.deepEqual(found("<p>{isOn ? 'On' : x && 'Off'}</p>"), ['On', 'Off']);
  assert.deepEqual(found("use({ says: 'Done', key: 'name', head: 'Name' })"), ['Done', 'Name']);
  assert.deepEqual(found("showToast('Done')"), ['Done']);
  assert.deepEqual(found("const OPTIONS = [['a', 'As it comes']]"), ['As it comes']);
  assert.deepEqual(found("throw new Error('A defect it is')"), []);
  assert.deepEqual(found('<p>{t.area.type} <code>ftg verify</code></p>'), []);
  assert.deepEqual(found('<input placeholder="processed" />'), []);
  assert.deepEqual(found('<p key="a" id="b">{t.area.key} · 7 / 8</p>'), []);
});

type Tree = { readonly [key: string]: unknown };

async function catalogues(t: TestContext): Promise<{ readonly en: Tree; readonly de: Tree }> {
  const contents = ['en', 'de']
    .map(
      (language) => `
        import * as ${language}First from './texts/${language}/first.ts';
        import * as ${language}Later from './texts/${language}/later.ts';
        export const ${language} = { ...${language}First, ...${language}Later };`,
    )
    .join('');
  const folder = mkdtempSync(path.join(tmpdir(), 'ftg-words-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = path.join(folder, 'texts.mjs');
  await build({
    stdin: { contents, resolveDir: WEB, loader: 'ts' },
    bundle: true,
    format: 'esm',
    outfile,
    // Numbers and times in texts are formatted for the browser's language, whose choice is watched with React.
    banner: { js: `const navigator = { language: 'en' };` },
    plugins: [
      {
        name: 'no-react',
        setup: (bundle) => {
          bundle.onResolve({ filter: /^react$/ }, () => ({ path: 'react', namespace: 'none' }));
          bundle.onLoad({ filter: /.*/, namespace: 'none' }, () => ({
            contents: 'export const useSyncExternalStore = 0;',
          }));
        },
      },
    ],
  });
  return (await import(pathToFileURL(outfile).href)) as { en: Tree; de: Tree };
}

/** Every text by its path; for a function, its result for example values. */
function textsOf(tree: unknown, at = ''): ReadonlyMap<string, string> {
  if (typeof tree === 'string') return new Map([[at, tree]]);
  if (typeof tree === 'function') return new Map([[at, exampleOf(tree as (...values: unknown[]) => unknown)]]);
  if (typeof tree !== 'object' || tree === null) return new Map();
  return new Map(Object.entries(tree).flatMap(([key, value]) => [...textsOf(value, at === '' ? key : `${at}.${key}`)]));
}

/** The types of a text's values are unknown here: uses the first kind that does not throw. */
function exampleOf(say: (...values: unknown[]) => unknown): string {
  for (const value of [7, 'x', ['x'], new Date(0), {}]) {
    try {
      return String(say(value, value, value, value));
    } catch {
      // Try another kind.
    }
  }
  return '';
}

/** The examples are `x` and numbers. */
function isOneInBoth(words: string): boolean {
  return (words.match(/\p{L}{2,}/gu) ?? []).every((word) => SAME.has(word) || NO_WORDS.test(word));
}

test('both languages have all texts, each in its own words', async (t) => {
  const { en, de } = await catalogues(t);
  const [english, german] = [textsOf(en), textsOf(de)];
  assert.deepEqual([...german.keys()].sort(), [...english.keys()].sort());
  const missing = [...german].filter(([key, words]) => words.trim() === '' && english.get(key)?.trim() !== '');
  assert.deepEqual(missing, []);
  const same = [...german].filter(
    ([key, words]) => english.get(key) === words && hasWord(words) && !isOneInBoth(words),
  );
  assert.deepEqual(same, []);
});

/** Names of what failed, as answers and errors have them. */
const RAW_REASON = /(?:^|[.?])(?:error|errorMessage|lastErrorMessage|message)(?: \?\? .*)?$/;

test('a reason is shown by its code alone, and a button that does nothing gives a reason', () => {
  const stray: string[] = [];
  // The errors of fields are the page's own words.
  const left = /^(?:link|screens\/files|ui\/fields)\b/;
  for (const file of sources().filter((name) => !left.test(name))) {
    const content = readFileSync(path.join(WEB, file), 'utf8');
    const source = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
    const visit = (node: ts.Node): void => {
      ts.forEachChild(node, visit);
      const raw = ts.isJsxExpression(node) && ts.isJsxElement(node.parent) ? node : undefined;
      const opening = raw === undefined ? '' : (raw.parent as ts.JsxElement).openingElement.getText(source);
      const isMarked = /lang="en"|className="crash"/.test(opening);
      if (raw !== undefined && !isMarked && RAW_REASON.test(raw.expression?.getText(source) ?? ''))
        stray.push(`${file}: ${raw.parent.getText(source)}`);
      if (!ts.isJsxAttribute(node) || node.name.getText(source) !== 'disabled') return;
      const tag = node.parent.parent.tagName.getText(source);
      if (/button/i.test(tag)) stray.push(`${file}: ${node.parent.parent.getText(source)}`);
    };
    visit(source);
  }
  assert.deepEqual(stray, []);
});
