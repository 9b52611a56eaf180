/**
 * Characters that are invisible, or that change how others are shown: controls, bidirectional controls (Unicode
 * Standard Annex 9), zero-width ones, fillers, line separators and tags. Two joiners are allowed where they belong:
 * between parts of an emoji, and in scripts whose letters are joined.
 */
const UNSEEN =
  /[\u034f\u17b4\u17b5\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0001}\u{e0020}-\u{e007f}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]|(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}])[\u200c\u200d]/gu;

/** Only visible ASCII and spaces. */
export const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** The text with a symbol in place of each of them. Those in `kept` stay. */
export function visible(text: string, symbolOf: (character: string) => string = symbol, kept = ''): string {
  // Nearly every text is plain.
  if (isPlain(text)) return text;
  return text.replace(UNSEEN, (character) => (kept.includes(character) ? character : symbolOf(character)));
}

const CONTROL_PICTURES = 0x2400;
const DELETE = 0x7f;

/** `\n` becomes ␊, U+202E becomes ⟨U+202E⟩. */
function symbol(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(CONTROL_PICTURES + code);
  if (code === DELETE) return '␡';
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
