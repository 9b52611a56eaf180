/** Why a check reported an entry, or did not, in words. */
const REASONS: Readonly<Record<string, string>> = {
  new: 'new: reported',
  modified: 'changed: reported',
  unchanged: 'known and unchanged',
  baseline: 'there before the watch began',
  settling: 'too young: looked at again',
  growing: 'still growing',
  empty: 'empty and new: waits for content',
  pattern: 'does not fit the pattern',
  excluded: 'excluded',
  temporary_name: 'a temporary name',
  marker: 'a marker of another file',
  modification_ignored: 'changed, but new files alone are reported',
  waiting_for_marker: 'waits for its marker',
  over_cap: 'left for the next check',
  gone: 'gone since the last check',
};

export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll('_', ' ');
}

export function countsText(counts: Readonly<Record<string, number>> | null): string {
  return Object.entries(counts ?? {})
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${reasonText(reason)}`)
    .join('; ');
}
