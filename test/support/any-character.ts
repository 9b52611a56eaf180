/** Characters for made-up texts. */
import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

/**
 * Any code point but surrogates, for `fc.string({ unit: anyCharacter })`. The unit `binary` of fast-check means the same,
 * but keeps a map of all 1.1 million, which every collection of garbage walks through.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: LAST - SURROGATES.count }).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  // With it, fast-check also makes texts that have a meaning to programs, such as __proto__.
  (character) => {
    const code = typeof character === 'string' ? (character.codePointAt(0) ?? NaN) : NaN;
    const index = code < SURROGATES.first ? code : code - SURROGATES.count;
    if (String.fromCodePoint(code) !== character || !character.isWellFormed()) throw new Error('not one character');
    return index;
  },
);
