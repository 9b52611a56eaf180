/** Sizes and ages as people type them: a number and a unit. NaN = not readable. */
import { SIZE_UNITS } from '../../../contract/units.ts';

/** The largest first. */
const SIZES = SIZE_UNITS.map((name, power) => [name, 1024 ** power] as const).reverse();
const AGES = [
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Two examples of input. Units are English in every language. */
export const LIKES = { bytes: ['500 KiB', '10 MiB'], age: ['90 minutes', '7 days'] } as const;

/** Undefined = empty. */
export function bytesOf(text: string): number | undefined {
  const typed = text.trim();
  if (typed === '') return undefined;
  const [, amount, letter = 'B'] = /^(\d+(?:\.\d+)?)\s*(?:([kmgtp])i?)?b?$/i.exec(typed) ?? [];
  const unit = SIZES.find(([name]) => name[0] === letter.toUpperCase());
  return amount === undefined || unit === undefined ? NaN : Math.round(Number(amount) * unit[1]);
}

/** The exact size as text; '' = undefined. */
export function sizeText(bytes: number | undefined): string {
  if (bytes === undefined) return '';
  const [name, size] = SIZES.find(([, one]) => bytes % one === 0 && bytes >= one) ?? ['B', 1];
  return `${bytes / size} ${name}`;
}

/** Undefined = empty. A number without a unit is not readable. */
export function secondsOf(text: string): number | undefined {
  const typed = text.trim().toLowerCase();
  if (typed === '') return undefined;
  const [, amount, word = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/.exec(typed) ?? [];
  const unit = AGES.find(([name]) => `${name}s`.startsWith(word));
  return amount === undefined || unit === undefined ? NaN : Math.round(Number(amount) * unit[1]);
}

export function ageText(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  const [name, size] = AGES.find(([, one]) => seconds % one === 0 && seconds >= one) ?? ['second', 1];
  const amount = seconds / size;
  return `${amount} ${name}${amount === 1 ? '' : 's'}`;
}
