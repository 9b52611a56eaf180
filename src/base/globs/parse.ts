/** The parts of a glob. Stars, `?` and classes never match a slash. */
export type Node =
  | { readonly kind: 'character'; readonly code: number }
  | { readonly kind: 'class'; readonly ranges: readonly number[]; readonly isNegated: boolean }
  /** `?` and `*`; at the start of a name they do not match a leading dot. */
  | { readonly kind: 'any' | 'star'; readonly isAtStart: boolean }
  /** `**` at the start of a segment: any number of segments, without hidden ones. */
  | { readonly kind: 'globstar' }
  /** The same with a slash after it, or nothing at all. */
  | { readonly kind: 'above' }
  /** `@(…)`, `?(…)`, `*(…)`, `+(…)`, `!(…)`, and `{…}` as `@`. */
  | { readonly kind: 'group'; readonly how: Repeat; readonly alternatives: readonly (readonly Node[])[] };

type Repeat = '@' | '?' | '*' | '+' | '!';

/** Numbers of a range such as `{1..500}`. */
const MAX_NUMBERS = 500;
const POSIX: Readonly<Record<string, string>> = {
  alnum: 'azAZ09',
  alpha: 'azAZ',
  ascii: '\0\x7f',
  blank: '  \t\t',
  cntrl: '\0\x1f\x7f\x7f',
  digit: '09',
  graph: '!~',
  lower: 'az',
  print: ' ~',
  punct: '!/:@[`{~',
  space: '  \t\r',
  upper: 'AZ',
  word: 'azAZ09__',
  xdigit: '09afAF',
};

/** @throws SyntaxError for brackets that do not close, or were never opened */
export function parseGlob(glob: string): { readonly nodes: readonly Node[]; readonly isNegated: boolean } {
  const marks = /^(?:!(?!\())*/.exec(glob)?.[0].length ?? 0;
  return { nodes: new Parser(glob, marks).whole(), isNegated: marks % 2 === 1 };
}

class Parser {
  readonly #glob: string;
  #at: number;

  constructor(glob: string, at: number) {
    this.#glob = glob;
    this.#at = at;
  }

  whole(): Node[] {
    const nodes = this.#sequence('', true);
    if (this.#at < this.#glob.length) throw new SyntaxError(`"${this.#glob.charAt(this.#at)}" closes nothing`);
    return nodes;
  }

  /** Reads up to one of the given characters, which is not consumed. */
  #sequence(ends: string, startsSegment: boolean): Node[] {
    const nodes: Node[] = [];
    let isAtStart = startsSegment;
    while (this.#at < this.#glob.length) {
      const sign = this.#glob.charAt(this.#at);
      if (ends.includes(sign) || sign === ')' || sign === ']') break;
      if ('@?*+!'.includes(sign) && this.#glob.charAt(this.#at + 1) === '(') {
        this.#at += 1;
        nodes.push(this.#group(sign as Repeat));
      } else if (sign === '*') {
        this.#stars(nodes, isAtStart);
        if (nodes.at(-1)?.kind === 'above') continue;
      } else if (sign === '(') nodes.push(this.#group('@'));
      else if (sign === '[') nodes.push(this.#class());
      else if (sign === '{') nodes.push(...this.#braces());
      else if (sign === '?') {
        this.#at += 1;
        nodes.push({ kind: 'any', isAtStart });
      } else {
        nodes.push({ kind: 'character', code: this.#character() });
        isAtStart = sign === '/';
        continue;
      }
      isAtStart = false;
    }
    return nodes;
  }

  #stars(nodes: Node[], isAtStart: boolean): void {
    const from = this.#at;
    while (this.#glob.charAt(this.#at) === '*' && this.#glob.charAt(this.#at + 1) !== '(') this.#at += 1;
    if (this.#at - from < 2 || !isAtStart) {
      nodes.push({ kind: 'star', isAtStart });
    } else if (this.#glob.charAt(this.#at) === '/') {
      this.#at += 1;
      nodes.push({ kind: 'above' });
    } else {
      nodes.push({ kind: 'globstar' });
    }
  }

  #group(how: Repeat): Node {
    const alternatives: Node[][] = [];
    do {
      this.#at += 1;
      alternatives.push(this.#sequence('|)', false));
    } while (this.#glob.charAt(this.#at) === '|');
    this.#close(')');
    return { kind: 'group', how, alternatives };
  }

  #braces(): Node[] {
    const range = /^\{(-?\d+|.)\.\.(-?\d+|.)\}/su.exec(this.#glob.slice(this.#at));
    if (range !== null) {
      this.#at += range[0].length;
      return [rangeOf(range[1] ?? '', range[2] ?? '')];
    }
    const alternatives: Node[][] = [];
    do {
      this.#at += 1;
      alternatives.push(this.#sequence(',}', false));
    } while (this.#glob.charAt(this.#at) === ',');
    this.#close('}');
    const [only = [], ...more] = alternatives;
    // Without a choice they are ordinary letters.
    return more.length === 0
      ? [characterOf('{'), ...only, characterOf('}')]
      : [{ kind: 'group', how: '@', alternatives }];
  }

  #class(): Node {
    this.#at += 1;
    const isNegated = '!^'.includes(this.#glob.charAt(this.#at)) && this.#at < this.#glob.length;
    if (isNegated) this.#at += 1;
    const ranges: number[] = [];
    // A closing bracket that comes first is a member.
    for (let isFirst = true; isFirst || this.#glob.charAt(this.#at) !== ']'; isFirst = false) {
      const named = /^\[:([a-z]+):\]/.exec(this.#glob.slice(this.#at, this.#at + 16));
      const members = POSIX[named?.[1] ?? ''];
      if (named !== null && members !== undefined) {
        this.#at += named[0].length;
        for (const member of members) ranges.push(member.charCodeAt(0));
        continue;
      }
      const from = this.#character();
      const hasEnd = this.#glob.charAt(this.#at) === '-' && this.#glob.charAt(this.#at + 1) !== ']';
      if (hasEnd) this.#at += 1;
      const to = hasEnd ? this.#character() : from;
      if (to < from) throw new SyntaxError('a class whose range runs backwards');
      ranges.push(from, to);
    }
    this.#at += 1;
    return { kind: 'class', ranges, isNegated };
  }

  /** One letter; after a backslash, any letter. */
  #character(): number {
    if (this.#glob.charAt(this.#at) === '\\' && this.#at + 1 < this.#glob.length) this.#at += 1;
    const code = this.#glob.codePointAt(this.#at);
    if (code === undefined) throw new SyntaxError('a bracket that is never closed');
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #close(bracket: string): void {
    if (this.#glob.charAt(this.#at) !== bracket) throw new SyntaxError(`a bracket that "${bracket}" does not close`);
    this.#at += 1;
  }
}

function rangeOf(from: string, to: string): Node {
  const [a, b] = [Number(from), Number(to)];
  if (!/\d/.test(from) || !/\d/.test(to)) {
    const codes = [from, to].map((letter) => letter.codePointAt(0) ?? 0);
    return { kind: 'class', ranges: [Math.min(...codes), Math.max(...codes)], isNegated: false };
  }
  const [least, most] = [Math.min(a, b), Math.max(a, b)];
  if (!(most - least < MAX_NUMBERS)) throw new SyntaxError(`a range of more than ${MAX_NUMBERS} numbers`);
  const isPadded = /^-?0\d/.test(from) || /^-?0\d/.test(to);
  const width = isPadded ? Math.max(from.length, to.length) : 0;
  const alternatives = Array.from({ length: most - least + 1 }, (_, index) => {
    const number = least + index;
    const digits = String(Math.abs(number)).padStart(number < 0 ? width - 1 : width, '0');
    return [...(number < 0 ? `-${digits}` : digits)].map(characterOf);
  });
  return { kind: 'group', how: '@', alternatives };
}

function characterOf(character: string): Node {
  return { kind: 'character', code: character.codePointAt(0) ?? 0 };
}
