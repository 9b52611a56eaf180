/** gateway.yaml as a tree of plain values with expanded variables, and the place of each value. */
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import { type Environment, expand, hasReference } from './environment.js';
import { EXACT_RANGE, isExact } from '../base/numbers.js';
import { foundText, holdsSecret, type KeyPath, type Mistake, pathText, quoted } from './mistakes.js';

/** Notations of numbers in YAML 1.2 besides decimal digits. */
const NOTATIONS: ReadonlySet<string> = new Set(['HEX', 'OCT']);

export interface ConfigDocument {
  /** Keys without a value are left out: an empty section has its defaults. */
  readonly tree: unknown;
  readonly mistakes: readonly Mistake[];
  /** `file:line:column` of the key, or of its parent. */
  placeOf(path: KeyPath): string | undefined;
  /** The text before variables were expanded; undefined if there was none. */
  writtenAt(path: KeyPath): string | undefined;
}

export function parseConfigDocument(source: string, fileName: string, environment: Environment): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(source, { version: '1.2', lineCounter: lines, prettyErrors: false, stringKeys: true });
  const placeAt = (offset: number | undefined): string => {
    if (offset === undefined) return fileName;
    const { line, col } = lines.linePos(offset);
    return `${fileName}:${line}:${col}`;
  };
  const syntax = firstErrors([...document.errors, ...document.warnings]).map((error) => ({
    path: 'the file',
    // The parser's own message may quote the text, and with it a password.
    found: SYNTAX_WORDS[error.code] ?? 'not YAML',
    allowed: 'YAML 1.2, one mapping',
    place: placeAt(error.pos[0]),
  }));
  const written = new WeakMap<Node, string>();
  const nodeFor = (path: KeyPath): Node | undefined => {
    const found = walk(document, path);
    return found.isWhole ? found.node : undefined;
  };
  const placeOf = (path: KeyPath): string => placeAt(walk(document, path).offset);
  const writtenAt = (path: KeyPath): string | undefined => {
    const node = nodeFor(path);
    return node === undefined ? undefined : written.get(node);
  };
  if (syntax.length > 0) return { placeOf, writtenAt, tree: undefined, mistakes: syntax };

  const mistakes: Mistake[] = [];
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === 'key') return;
      const path = pathOf([...ancestors, node]);
      if (typeof node.value === 'number' && (NOTATIONS.has(node.format ?? '') || !isExact(node.value))) {
        const found = foundText(path, node.source ?? node.value);
        mistakes.push({
          path: pathText(path),
          found,
          allowed: `a number in decimal digits, ${EXACT_RANGE}`,
          place: placeAt(node.range?.[0]),
        });
      }
      if (typeof node.value !== 'string' || !hasReference(node.value)) return;
      const expansion = expand(node.value, environment);
      written.set(node, node.value);
      if ('text' in expansion) {
        node.value = expansion.text;
        return;
      }
      mistakes.push({
        path: pathText(path),
        ...describe(expansion, node.value, path),
        place: placeAt(node.range?.[0]),
      });
    },
  });
  try {
    return { placeOf, writtenAt, tree: withoutEmpty(document.toJS() ?? {}), mistakes };
  } catch {
    return { placeOf, writtenAt, tree: undefined, mistakes: [{ ...UNRESOLVED_ALIASES, place: fileName }] };
  }
}

/** After a syntax error the parser guesses; the errors after it are not the operator's mistakes. */
function firstErrors(errors: readonly YAMLError[]): readonly YAMLError[] {
  const first = errors.findIndex((error) => error.code !== 'DUPLICATE_KEY');
  return first < 0 ? errors : errors.slice(0, first + 1);
}

const UNRESOLVED_ALIASES = {
  path: 'the file',
  found: 'aliases (*name) that cannot be resolved',
  allowed: 'aliases of anchors further up, at most 100; a text that begins with * in quotes',
};

function describe(
  expansion: { readonly unset: readonly string[] } | { readonly malformed: true },
  text: string,
  path: KeyPath,
): Pick<Mistake, 'found' | 'allowed'> {
  if ('malformed' in expansion) {
    const found = holdsSecret(path)
      ? 'a "${" that begins no variable'
      : `${quoted(text)}, where a "\${" begins no variable`;
    return { found, allowed: '${NAME} or ${NAME:-default}; $${ is the characters ${' };
  }
  const [first] = expansion.unset;
  const names = expansion.unset.map((name) => `\${${name}}`).join(', ');
  return {
    found: `${names}, not set in the environment`,
    allowed: `a variable that is set, or one with a default: \${${first}:-default}`,
  };
}

/** The path of the last one of these nodes, each a child of the one before. */
function pathOf(nodes: readonly unknown[]): KeyPath {
  const path: (string | number)[] = [];
  nodes.forEach((node, index) => {
    if (isPair(node)) path.push(keyText(node.key));
    else if (isSeq(node)) path.push(node.items.indexOf(nodes[index + 1]));
  });
  return path;
}

/** Follows `path` as far as it exists, through aliases as well. */
function walk(
  document: Document,
  path: KeyPath,
): { node: Node | undefined; offset: number | undefined; isWhole: boolean } {
  let node: Node | undefined = document.contents ?? undefined;
  let offset = node?.range?.[0];
  for (const part of path) {
    const target: Node | undefined = isAlias(node) ? node.resolve(document) : node;
    if (isMap(target)) {
      const pair = target.items.find((item) => keyText(item.key) === String(part));
      if (pair === undefined) return { node: target, offset, isWhole: false };
      offset = isScalar(pair.key) ? (pair.key.range?.[0] ?? offset) : offset;
      node = (pair.value ?? undefined) as Node | undefined;
    } else if (isSeq(target) && typeof part === 'number' && part < target.items.length) {
      node = target.items[part] as Node;
      offset = node.range?.[0] ?? offset;
    } else {
      return { node: target, offset, isWhole: false };
    }
  }
  return { node: isAlias(node) ? node.resolve(document) : node, offset, isWhole: true };
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

/** A copy that shares nothing between aliases, without keys that have no value. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null && inner !== undefined)
      .map(([key, inner]) => [key, withoutEmpty(inner)]),
  );
}

const SYNTAX_WORDS: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'an alias (*name) without its anchor; a text that begins with * needs quotes',
  ALIAS_PROPS: 'an alias (*name) with an anchor or tag of its own',
  BAD_COLLECTION_TYPE: 'a tag that does not fit its value',
  BAD_DIRECTIVE: 'an unknown directive; a text that begins with % needs quotes',
  BAD_DQ_ESCAPE: 'an unknown escape (\\) in a text in double quotes; double the backslash or use single quotes',
  BAD_INDENT: 'indentation that does not fit the lines above',
  BAD_PROP_ORDER: 'an anchor or tag in the wrong place',
  BAD_SCALAR_START: 'a text that begins with @ or `; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second ": " on one line; put a text that holds one in quotes',
  BLOCK_IN_FLOW: 'a block inside { } or [ ]',
  DUPLICATE_KEY: 'the same key a second time in one mapping',
  KEY_OVER_1024_CHARS: 'a key of more than 1024 characters',
  MISSING_CHAR: 'a missing character, such as a closing quote, bracket, comma or colon',
  MULTILINE_IMPLICIT_KEY: 'a key over several lines; is a ": " missing?',
  MULTIPLE_ANCHORS: 'two anchors on one value',
  MULTIPLE_DOCS: 'a second document (---)',
  MULTIPLE_TAGS: 'two tags on one value',
  NON_STRING_KEY: 'a key that is no text; put it in quotes',
  RESOURCE_EXHAUSTION: 'nesting that is too deep',
  TAB_AS_INDENT: 'a tab as indentation; use spaces',
  TAG_RESOLVE_FAILED: 'a tag (!name); a text that begins with ! needs quotes',
  UNEXPECTED_TOKEN: 'an unexpected character; a text with one of { } [ ] , : # in it may need quotes',
};
