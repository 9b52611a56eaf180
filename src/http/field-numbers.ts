/** Numbers in header fields that neither a schema nor the endpoint checks. */
import { refusal } from '../base/errors.js';
import { isForeignNumber } from '../base/numbers.js';

/**
 * The position of numbers in each field; text that is not a number in any notation is left to the reader of the field.
 */
const NUMBERS: readonly (readonly [field: string, number: RegExp])[] = [
  ['range', /[=,-]\s*([^\s,=-]+)/g],
  ['prefer', /\bwait\s*=\s*"?([^\s",;]+)/gi],
  ['want-repr-digest', /=\s*([^\s,;]+)/g],
  ['want-content-digest', /=\s*([^\s,;]+)/g],
  ['accept', /;\s*q\s*=\s*([^\s,;]+)/gi],
  ['accept-encoding', /;\s*q\s*=\s*([^\s,;]+)/gi],
];

/** @throws GatewayError bad_request for Infinity, NaN, hexadecimal, and numbers that a double cannot hold exactly */
export function refuseForeignNumbers(headers: ReadonlyMap<string, string>): void {
  for (const [field, number] of NUMBERS) {
    for (const [, text = ''] of headers.get(field)?.matchAll(number) ?? []) {
      if (!isForeignNumber(text)) continue;
      throw refusal('bad_request', `${field}: ${text.slice(0, 40)} is not a number in decimal digits`);
    }
  }
}
