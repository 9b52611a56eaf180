/** The text of the metrics without names that reveal whom the gateway serves: for callers without a login. */

/** Labels whose values are names of servers and of connections. */
const NAMES = /(^|,)(?:host|connection)="(?:[^"\\]|\\.)*"/g;

/** Series that differ only in a name become one, with the sum of their values. */
export function withoutNames(text: string): string {
  const lines: string[] = [];
  const sums = new Map<string, { readonly at: number; sum: number }>();
  for (const line of text.split('\n')) {
    const [, metric, labels, value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    const unnamed = labels?.replace(NAMES, '').replace(/^,/, '');
    if (metric === undefined || unnamed === undefined || unnamed === labels) {
      lines.push(line);
      continue;
    }
    const series = unnamed === '' ? metric : `${metric}{${unnamed}}`;
    const known = sums.get(series) ?? { at: lines.push('') - 1, sum: 0 };
    known.sum += Number(value);
    sums.set(series, known);
    lines[known.at] = `${series} ${known.sum}`;
  }
  return lines.join('\n');
}
