/** The abbreviated month names of LIST, in the languages that servers run in. */

/** As `ls` prints them (glibc, BSD), lower case and without a dot. */
const NAMES: readonly string[] = [
  'jan feb mar apr may jun jul aug sep oct nov dec', // English
  'jan feb mär apr mai jun jul aug sep okt nov dez', // German
  'jän feb mrz apr mai jun jul aug sept okt nov dez', // Austrian German
  'janv févr mars avril mai juin juil août sept oct nov déc', // French
  'jan fév mar avr mai jui jul aoû sep oct nov déc',
  'ene feb mar abr may jun jul ago sep oct nov dic', // Spanish
  'gen feb mar apr mag giu lug ago set ott nov dic', // Italian
  'jan fev mar abr mai jun jul ago set out nov dez', // Portuguese
  'jan feb mrt apr mei jun jul aug sep okt nov dec', // Dutch
  'jan feb mar apr maj jun jul aug sep okt nov dec', // Swedish, Danish
  'jan feb mars april mai juni juli aug sep okt nov des', // Norwegian
  'sty lut mar kwi maj cze lip sie wrz paź lis gru', // Polish
  'led úno bře dub kvě čen čec srp zář říj lis pro', // Czech
  'tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu', // Finnish
  'jan febr márc ápr máj jún júl aug szept okt nov dec', // Hungarian
  'oca şub mar nis may haz tem ağu eyl eki kas ara', // Turkish
  'янв фев мар апр мая июн июл авг сен окт ноя дек', // Russian
  'янв фев мар апр май июн июл авг сент окт нояб дек',
  'січ лют бер кві тра чер лип сер вер жов лис гру', // Ukrainian
];

const MONTHS = monthsOf();

function monthsOf(): ReadonlyMap<string, number> {
  const months = new Map<string, number>();
  const ambiguous = new Set<string>();
  for (const language of NAMES) {
    for (const [month, name] of language.split(' ').entries()) {
      const known = months.get(name);
      if (known !== undefined && known !== month) ambiguous.add(name);
      months.set(name, month);
    }
  }
  for (const name of ambiguous) months.delete(name);
  return months;
}

/** Chinese, Japanese and Korean number them. */
const NUMBERED = /^(\d{1,2})[月월]$/u;

/** 0 to 11; undefined for an unknown name, or one that means two different months. */
export function monthNumberOf(text: string): number | undefined {
  const name = text.toLowerCase();
  return MONTHS.get(name) ?? numberedMonth(text) ?? MONTHS.get(name.normalize('NFC').replace(/\.$/, ''));
}

function numberedMonth(text: string): number | undefined {
  const number = Number(NUMBERED.exec(text)?.[1] ?? NaN);
  return number >= 1 && number <= 12 ? number - 1 : undefined;
}
