/** Ids made from names. */
const SPELT: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  ø: 'o',
  ł: 'l',
  '&': '-and-',
};
const LONGEST = 60;

/** An id with allowed letters only, different from those in `taken`; "" if the name has no such letters. */
export function slugOf(name: string, taken: readonly string[]): string {
  const slug = name
    .toLowerCase()
    .replace(/[äöüßæøł&]/g, (letter) => SPELT[letter] ?? '')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^[-_]+|-+$/g, '')
    .slice(0, LONGEST);
  if (slug === '' || !taken.includes(slug)) return slug;
  let number = 2;
  while (taken.includes(`${slug}-${number}`)) number++;
  return `${slug}-${number}`;
}
