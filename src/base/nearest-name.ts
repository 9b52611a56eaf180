/** Finds the known name that a mistyped one most likely means. */

const MOST_EDITS = 2;
/** Longer names are not compared. */
const MAX_LENGTH = 64;

/** Case, and how words are joined, are ignored. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (given.length > MAX_LENGTH) return undefined;
  const ranked = names
    .map((name) => ({ name, edits: distance(bare(given), bare(name)) }))
    .filter(({ name, edits }) => edits <= Math.min(MOST_EDITS, name.length / 2))
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.name;
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** Edits between two words (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
