/**
 * Globs written by others: `*`, `?`, `[a-z]`, `{a,b}`, `@(a|b)` and similar ones, `**`, a leading `!`. A glob becomes a
 * list of states, and a text is scanned once, from its end: for each position it is noted which states lead to the end
 * from there. So a match costs at most states × characters for any glob and any text; there is no backtracking.
 */
import { type Node, parseGlob } from './parse.js';

export interface GlobOptions {
  /** Whether a star at the start of a name also matches a leading dot, and `**` hidden folders. */
  readonly dot?: boolean;
}

/** The highest cost of a match, in states, sweeps over them and characters: some ten milliseconds. */
const MAX_STATES = 2048;
const MAX_ROUNDS = 2;
/** Longer paths cannot be requested either. */
const MAX_CHARACTERS = 4096;
const DOT = 0x2e;
const SLASH = 0x2f;
const NO_CHARACTER = -1;
const TAKES_DOTS = 1;

const enum Op {
  End,
  Character,
  Class,
  Any,
  Star,
  Globstar,
  NoDot,
  Either,
  Unless,
}

/** @throws SyntaxError for brackets that are never closed, and for a glob of too many parts */
export function compileGlob(glob: string, { dot = false }: GlobOptions = {}): (text: string) => boolean {
  const { nodes, isNegated } = parseGlob(glob);
  const matches = matcherOf(nodes, dot);
  return (text) => text === glob || matches(text) !== isNegated;
}

/** Most texts are decided by their letters at either end, and most globs have one star between them. */
function matcherOf(nodes: readonly Node[], dot: boolean): (text: string) => boolean {
  const isPart = ({ kind }: Node): boolean => kind !== 'character';
  const [first, last] = [nodes.findIndex(isPart), nodes.findLastIndex(isPart)];
  if (first === -1) {
    const letters = lettersOf(nodes);
    return (text) => text === letters;
  }
  const prefix = lettersOf(nodes.slice(0, first));
  const suffix = lettersOf(nodes.slice(last + 1));
  const between = first === last ? loneStar(nodes[first] as Node, prefix, suffix, dot) : undefined;
  const program = new Program(dot);
  const matcher = new Matcher(program, program.sequence(nodes, program.end));
  return (text) =>
    text.length >= prefix.length + suffix.length &&
    text.length <= MAX_CHARACTERS &&
    text.startsWith(prefix) &&
    text.endsWith(suffix) &&
    (between?.(text) ?? matcher.matches(text));
}

function loneStar(node: Node, prefix: string, suffix: string, dot: boolean): ((text: string) => boolean) | undefined {
  if (node.kind !== 'star') return undefined;
  return (text) => {
    if (node.isAtStart && !dot && text.charCodeAt(prefix.length) === DOT) return false;
    const slash = text.indexOf('/', prefix.length);
    return slash === -1 || slash >= text.length - suffix.length;
  };
}

function lettersOf(nodes: readonly Node[]): string {
  return nodes.map((node) => (node.kind === 'character' ? String.fromCodePoint(node.code) : '')).join('');
}

/**
 * States; each is made after the states that it leads to without taking a character. Only the rounds of a repeat lead
 * back.
 */
class Program {
  readonly #dot: boolean;
  readonly ops: Op[] = [];
  /** The next state of each. */
  readonly nexts: number[] = [];
  /**
   * By kind: the letter of Character, the index of a class, the second branch of Either, what must not lead to the end
   * for Unless, and whether Globstar takes dots.
   */
  readonly others: number[] = [];
  readonly classes: Extract<Node, { kind: 'class' }>[] = [];
  readonly end = this.#add(Op.End, 0);
  hasRounds = false;
  hasUnless = false;
  #rounds = 0;

  constructor(dot: boolean) {
    this.#dot = dot;
  }

  sequence(nodes: readonly Node[], next: number): number {
    return nodes.reduceRight((following, node) => this.#node(node, following), next);
  }

  #node(node: Node, next: number): number {
    switch (node.kind) {
      case 'character':
        return this.#add(Op.Character, next, node.code);
      case 'class':
        return this.#add(Op.Class, next, this.classes.push(node) - 1);
      case 'any':
      case 'star': {
        const state = this.#add(node.kind === 'any' ? Op.Any : Op.Star, next);
        return node.isAtStart && !this.#dot ? this.#add(Op.NoDot, state) : state;
      }
      case 'globstar':
        return this.#globstar(next);
      case 'above':
        return this.#either(next, this.#globstar(this.#add(Op.Character, next, SLASH)));
      case 'group':
        return this.#group(node, next);
    }
  }

  #globstar(next: number): number {
    return this.#add(Op.Globstar, next, this.#dot ? TAKES_DOTS : 0);
  }

  #group({ how, alternatives }: Extract<Node, { kind: 'group' }>, next: number): number {
    switch (how) {
      case '@':
        return this.#oneOf(alternatives, next);
      case '?':
        return this.#either(next, this.#oneOf(alternatives, next));
      case '!':
        return this.#unless(alternatives, next);
      case '*':
      case '+': {
        const again = this.#either(next, next);
        this.hasRounds = true;
        if (++this.#rounds > MAX_ROUNDS) throw new SyntaxError('*( or +( inside of another two');
        const once = this.#oneOf(alternatives, again);
        this.#rounds -= 1;
        this.others[again] = once;
        return how === '+' ? once : again;
      }
    }
  }

  /**
   * `!(a|b)` and the rest: everything that the same glob with a star in its place matches, and the glob with `@` does
   * not.
   */
  #unless(alternatives: readonly (readonly Node[])[], next: number): number {
    if (this.#rounds > 0) throw new SyntaxError('!( inside of *( or +(');
    this.hasUnless = true;
    const other = this.#oneOf(alternatives, next);
    return this.#add(Op.Unless, this.#add(Op.Star, next), other);
  }

  #oneOf(alternatives: readonly (readonly Node[])[], next: number): number {
    return alternatives.map((nodes) => this.sequence(nodes, next)).reduce((one, other) => this.#either(one, other));
  }

  #either(next: number, other: number): number {
    return this.#add(Op.Either, next, other);
  }

  isInClass(index: number, code: number): boolean {
    const { ranges, isNegated } = this.classes[index] as Extract<Node, { kind: 'class' }>;
    return isIn(ranges, code) !== isNegated;
  }

  #add(op: Op, next: number, other = 0): number {
    if (this.ops.length === MAX_STATES) throw new SyntaxError('a glob of too many parts');
    this.nexts.push(next);
    this.others.push(other);
    return this.ops.push(op) - 1;
  }
}

class Matcher {
  readonly #program: Program;
  readonly #start: number;
  readonly #ops: Uint8Array;
  readonly #nexts: Uint16Array;
  readonly #others: Int32Array;
  /** For a position and the one after it: 1 if a state leads to the end. */
  readonly #notes: [Uint8Array, Uint8Array];
  /** The codes of the text that is matched, and an extra one after its end. */
  #codes = new Int32Array(256);
  #length = 0;

  constructor(program: Program, start: number) {
    this.#program = program;
    this.#start = start;

    this.#ops = Uint8Array.from(program.ops);
    this.#nexts = Uint16Array.from(program.nexts);
    this.#others = Int32Array.from(program.others);
    this.#notes = [new Uint8Array(this.#ops.length), new Uint8Array(this.#ops.length)];
  }

  matches(text: string): boolean {
    const { hasRounds, hasUnless } = this.#program;
    this.#read(text);
    let [here, after] = this.#notes;
    here.fill(0);
    after.fill(0);
    for (let at = this.#length; at >= 0; at--) {
      let changes = this.#sweep(at, here, after);
      if (changes === 0 && !hasUnless) return false;
      // A round of a repeat may lead to the next one at the same position.
      while (hasRounds && changes > 0) changes = this.#sweep(at, here, after);
      [after, here] = [here, after];
      here.fill(0);
    }
    return after[this.#start] === 1;
  }

  /** Notes which states lead from here to the end; returns how many notes it changed. */
  #sweep(at: number, here: Uint8Array, after: Uint8Array): number {
    const isEnd = at === this.#length;
    const code = this.#codes[at] as number;
    const isDotInFront = code === DOT && (at === 0 || this.#codes[at - 1] === SLASH);
    const [ops, nexts, others] = [this.#ops, this.#nexts, this.#others];
    let changes = 0;
    for (let index = 0; index < ops.length; index++) {
      const next = nexts[index] as number;
      const other = others[index] as number;
      const follows = here[next] === 1;
      const takes = after[next] === 1;
      let leads: boolean;
      switch (ops[index] as Op) {
        case Op.End:
          leads = isEnd;
          break;
        case Op.Character:
          leads = takes && code === other;
          break;
        case Op.Any:
          leads = takes && code !== SLASH;
          break;
        case Op.Class:
          leads = takes && code !== SLASH && this.#program.isInClass(other, code);
          break;
        case Op.Star:
          leads = follows || (code !== SLASH && after[index] === 1);
          break;
        case Op.Globstar:
          leads = (!isDotInFront || other === TAKES_DOTS) && (follows || after[index] === 1);
          break;
        case Op.NoDot:
          leads = follows && code !== DOT;
          break;
        case Op.Either:
          leads = follows || here[other] === 1;
          break;
        case Op.Unless:
          leads = follows && here[other] === 0;
          break;
      }
      if (leads === (here[index] === 1)) continue;
      here[index] = leads ? 1 : 0;
      changes += 1;
    }
    return changes;
  }

  #read(text: string): void {
    if (text.length >= this.#codes.length) this.#codes = new Int32Array(2 * text.length);
    let length = 0;
    for (let at = 0; at < text.length; length += 1) {
      const code = text.codePointAt(at) as number;
      this.#codes[length] = code;
      at += code > 0xffff ? 2 : 1;
    }
    this.#codes[length] = NO_CHARACTER;
    this.#length = length;
  }
}

/** Pairs of first and last. */
function isIn(ranges: readonly number[], code: number): boolean {
  for (let index = 0; index < ranges.length; index += 2) {
    if (code >= (ranges[index] as number) && code <= (ranges[index + 1] as number)) return true;
  }
  return false;
}
