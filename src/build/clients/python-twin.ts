/** Makes the synchronous half of the Python client from the asynchronous one. */

/** Applied in this order, on whole words. */
const TO_SYNC: readonly (readonly [RegExp, string])[] = [
  [/\basync (def|for|with)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAsyncGenerator\[(.+), None\]/g, 'Generator[$1, None, None]'],
  [/\b(Stop)?Async(?=[A-Z])/g, '$1'],
  [/\b__a(enter|exit|iter|next)__\b/g, '__$1__'],
  [/\ba(close|read|iter_raw|iter_bytes)\b/g, '$1'],
];

/** The text of a module of `_async` without waiting. */
export function twinOf(name: string, source: string): string {
  const text = TO_SYNC.reduce((code, [from, to]) => code.replace(from, to), source);
  return `# Made by the build from _async/${name}.\n${text}`;
}
