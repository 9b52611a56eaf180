/** Units of time, in milliseconds; sizes as people read them; and bounds that forms also check. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const DAY_MINUTES = DAY_MS / MINUTE_MS;

export const KIB = 1_024;
export const MIB = 1_024 * KIB;
/** The most bytes of a brand's logo. */
export const LOGO_BYTES = 64 * KIB;

/** Units of sizes: each is 1,024 times the former one. */
export const SIZE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** Writes bytes in the language of a reader: `1.5 MiB`. */
export function sizeFormat(locale: string): (bytes: number) => string {
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, useGrouping: false });
  return (bytes) => {
    let [amount, power] = [bytes, 0];
    // An amount that would be rounded to 1024 is shown as 1 of the next unit.
    for (; amount >= 1023.95 && power < SIZE_UNITS.length - 1; power++) amount /= 1024;
    return `${number.format(amount)} ${SIZE_UNITS[power] ?? ''}`;
  };
}
