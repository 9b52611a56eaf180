/** A line of a shell as its words, and words as a line of bash takes them. */

interface LastWord {
  /** Without quotes and backslashes; the last one is empty behind a blank. */
  readonly words: readonly string[];
  /** The last one as it is typed. */
  readonly raw: string;
  /** The quote that is still open at its end; "" where none is. */
  readonly quote: string;
}

/** As far as words go: what a shell would put in their places is left as it is. */
export function splitLine(line: string): LastWord {
  const words: string[] = [];
  let [word, raw, quote, isBegun] = ['', '', '', false];
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (quote === '' && /\s/.test(character)) {
      if (isBegun) words.push(word);
      [word, raw, isBegun] = ['', '', false];
      continue;
    }
    isBegun = true;
    raw += character;
    if (quote === '' && (character === "'" || character === '"')) quote = character;
    else if (character === quote) quote = '';
    else if (character === '\\' && quote !== "'" && at + 1 < line.length) {
      at += 1;
      raw += line.charAt(at);
      word += line.charAt(at);
    } else word += character;
  }
  return { words: [...words, word], raw, quote };
}

/** What stands in place of `part`, the end of the last word that bash completes; the rest of the word stays. */
export function inBash(candidates: readonly string[], { raw, quote }: LastWord, part: string): string[] {
  const end = part.replace(/^['"]/, '');
  const stays = raw.endsWith(end) ? (splitLine(raw.slice(0, raw.length - end.length)).words.at(-1) ?? '') : '';
  return candidates.map((word) => {
    const rest = word.slice(stays.length);
    // Names come from servers: within quotes, too, nothing in them is a command.
    if (quote === "'") return rest.replaceAll("'", String.raw`'\''`);
    if (quote === '"') return rest.replace(/[$`"\\]/g, String.raw`\$&`);
    // A colon that completes a connection is where the next word of bash begins: escaped it would be none.
    return rest.replace(/[^\p{L}\p{N}_%+,./:^-]|:(?!$)/gu, String.raw`\$&`);
  });
}
