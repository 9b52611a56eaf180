/** Scores how well the typed text matches a name. Higher is better; undefined = no match. */
export function fits(typed: string, name: string): number | undefined {
  const wanted = plain(typed).replace(/\s+/g, ' ').trim();
  const text = plain(name);
  if (wanted === '') return 0;
  const at = text.indexOf(wanted);
  if (at === 0) return 1_000 - text.length;
  if (at > 0) return (isStart(text, at) ? 800 : 600) - at;
  return spread(wanted.replaceAll(' ', ''), text);
}

/** Matches the letters in order with gaps. Fewer gaps and more starts of words score higher. */
function spread(wanted: string, text: string): number | undefined {
  let score = 400;
  let from = 0;
  for (const letter of wanted) {
    const at = text.indexOf(letter, from);
    if (at < 0) return undefined;
    if (at > from) score -= isStart(text, at) ? 2 : 10 + at - from;
    from = at + 1;
  }
  return Math.max(1, score - text.length);
}

function isStart(text: string, at: number): boolean {
  return !/[\p{L}\p{N}]/u.test(text.charAt(at - 1));
}

/** Removes case and accents. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
