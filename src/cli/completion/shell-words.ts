/** Splits a line of a shell into words, and quotes words for a line of bash. */

interface LastWord {
  /** Without quotes and backslashes; the last one is empty after a blank. */
  readonly words: readonly string[];
  /** The last word as typed. */
  readonly raw: string;
  /** The quote that is open at its end; "" if there is none. */
  readonly quote: string;
}

/** Only splits words: expansions of the shell are left as they are. */
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

/** Replacements for `part`, the end of the last word, which bash completes; the rest of the word stays. */
export function inBash(candidates: readonly string[], { raw, quote }: LastWord, part: string): string[] {
  const end = part.replace(/^['"]/, '');
  const stays = raw.endsWith(end) ? (splitLine(raw.slice(0, raw.length - end.length)).words.at(-1) ?? '') : '';
  return candidates.map((word) => {
    const rest = word.slice(stays.length);
    // Names come from servers: they must not contain commands, even within quotes.
    if (quote === "'") return rest.replaceAll("'", String.raw`'\''`);
    if (quote === '"') return rest.replace(/[$`"\\]/g, String.raw`\$&`);
    // For bash, the colon after a connection begins the next word; an escaped colon would not.
    return rest.replace(/[^\p{L}\p{N}_%+,./:^-]|:(?!$)/gu, String.raw`\$&`);
  });
}
