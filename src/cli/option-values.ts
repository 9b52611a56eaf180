/** How the values of options are read. */
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
