/** Parsers of option values. */
import { InvalidArgumentError } from 'commander';

export function number(least: number, most: number) {
  return (text: string): number => {
    const value = text.trim() === '' ? NaN : Number(text);
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}

export function orNone(parse: (text: string) => number) {
  return (text: string): number | 'none' => (text === 'none' ? text : parse(text));
}

export function flag(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('Allowed choices are true, false.');
}

/** In the form of rclone: 512K, 10M, 1.5G (powers of 1,024); without a letter bytes. */
export function bytes(text: string): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([kmgt]?)$/i.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('It must be bytes, such as 512K or 10M.');
  return Math.round(Number(amount) * 1024 ** ['', 'k', 'm', 'g', 't'].indexOf(unit.toLowerCase()));
}

const AGE_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** In seconds, in the form of rclone: 90s, 30m, 12h, 7d, 2w; without a letter seconds. */
export function age(text: string): number {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)([smhdw]?)$/i.exec(text) ?? [];
  const seconds = AGE_UNITS[unit === '' ? 's' : unit.toLowerCase()];
  if (amount === undefined || seconds === undefined) {
    throw new InvalidArgumentError('It must be an age, such as 90s, 12h or 7d.');
  }
  return Math.round(Number(amount) * seconds);
}

/** Collects the values of an option that may be given several times. */
export function gathered(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
