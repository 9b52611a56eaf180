/** Numbers as clients and operators may write them: decimal, finite, and exact; and sums. */

const DECIMAL = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
/** Text that programs read as a number although it is not decimal: JavaScript's coercion, C's strtod. */
const FOREIGN = /^[+-]?(?:inf(?:inity)?|nan|0[xob][\da-z]*)$/i;

/** The words of an error about a number that is not finite, or that a double cannot represent exactly. */
export const EXACT_RANGE = `between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;

/** Whether a double represents this number and its neighbours exactly; false for NaN and the infinities. */
export function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** The number that the text gives in decimal digits; undefined if it is not a number. It may be beyond all bounds. */
export function decimalOf(text: string): number | undefined {
  return DECIMAL.test(text) ? Number(text) : undefined;
}

/** Whether the text is meant as a number, but is not decimal and exact. */
export function isForeignNumber(text: string): boolean {
  const number = decimalOf(text);
  return number === undefined ? FOREIGN.test(text) : !isExact(number);
}

/** An amount that a budget may hold. @throws RangeError for one that is not finite, or negative */
export function requireAmount(amount: number): void {
  if (!Number.isFinite(amount) || amount < 0) throw new RangeError(`${amount} is no amount`);
}

export function sumOfSizes(items: readonly { readonly size: number }[]): number {
  return items.reduce((sum, { size }) => sum + size, 0);
}
