/** Values of JSON bodies that are refused by every schema. */
import { EXACT_RANGE, isExact } from '../../base/numbers.js';
import { refusal } from '../../base/errors.js';

/** @throws GatewayError bad_request naming the field with a NUL, or with a number that is not finite or not exact */
export function requirePlainValues(body: unknown): void {
  const isMapping = typeof body === 'object' && body !== null && !Array.isArray(body);
  for (const [name, value] of isMapping ? Object.entries(body) : [['the body', body] as const]) {
    const where = name.includes('\0') ? 'a name in the body' : holdsNul(value) ? name.slice(0, 64) : undefined;
    if (where !== undefined) throw refusal('bad_request', `${where} holds a NUL`);
    requireExactNumbers(value, name.slice(0, 64));
  }
}

/**
 * JSON.parse turns 1e309 into Infinity, which passes minimum and maximum. @throws GatewayError bad_request naming
 * `where`
 */
function requireExactNumbers(value: unknown, where: string): void {
  for (const inner of valuesIn(value)) {
    if (typeof inner !== 'number' || isExact(inner)) continue;
    throw refusal('bad_request', `${where}: a number must be ${EXACT_RANGE}`);
  }
}

/** No field needs a NUL, and the database cannot store it. */
function holdsNul(value: unknown): boolean {
  for (const inner of valuesIn(value)) if (typeof inner === 'string' && inner.includes('\0')) return true;
  return false;
}

/** The value, and all values and names in it. Not recursive: a body may be nested as deep as it is long. */
function* valuesIn(body: unknown): Generator<unknown> {
  const left = [body];
  while (left.length > 0) {
    const value = left.pop();
    yield value;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) left.push(name, inner);
  }
}
