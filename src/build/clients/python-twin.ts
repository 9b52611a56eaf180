/** Makes both halves of the Python client from one source, which is the asynchronous half without its fields. */
import { type Requests, withFields } from './python-fields.js';

/** Applied in this order, on whole words. */
const TO_SYNC: readonly (readonly [RegExp, string])[] = [
  [/\basync (def|for|with)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAsyncGenerator\[(.+), None\]/g, 'Generator[$1, None, None]'],
  [/\b(Stop)?Async(?=[A-Z])/g, '$1'],
  [/\b__a(enter|exit|iter|next)__\b/g, '__$1__'],
  [/\ba(close|read|iter_raw|iter_bytes)\b/g, '$1'],
];

interface Halves {
  readonly asynchronous: string;
  /** The same without waiting. */
  readonly synchronous: string;
}

export function halvesOf(name: string, source: string, requests: Requests): Halves {
  const asynchronous = `# Made by the build from src/python/client/${name}.\n${withFields(source, requests)}`;
  const synchronous = TO_SYNC.reduce((code, [from, to]) => code.replace(from, to), asynchronous);
  return { asynchronous, synchronous };
}
