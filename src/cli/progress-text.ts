/** The progress of transfers as text. */
import { bytesText, oneLine, printable } from './output.js';

const BAR_WIDTH = 24;
const MOST_RUNNING = 8;

export function progressText(name: string, bytes: number, total: number | undefined, elapsedMs: number): string {
  const perSecond = bytes / Math.max(elapsedMs / 1_000, 0.001);
  const speed = `${bytesText(Math.round(perSecond))}/s`;
  if (total === undefined || total === 0) return `${printable(name)}  ${bytesText(bytes)}  ${speed}`;
  const share = Math.min(1, bytes / total);
  const bar = '#'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '.');
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  const rest = perSecond === 0 ? '' : `  ${durationText((total - bytes) / perSecond)} left`;
  return `${percent} [${bar}] ${bytesText(bytes)} of ${bytesText(total)}  ${speed}${rest}  ${printable(name)}`;
}

export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60];
  const tail = `${String(minutes).padStart(hours > 0 ? 2 : 1, '0')}:${String(whole % 60).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}

/** The progress of many files: finished ones, and the known rest. */
export interface Totals {
  readonly bytes: number;
  readonly bytesTotal: number;
  /** Finished files, and all known files. */
  readonly files: number;
  readonly filesTotal: number;
  readonly skipped: number;
  readonly failed: number;
  readonly deleted?: number;
  /** More accurate than the value from the elapsed time. */
  readonly bytesPerSecond?: number;
  readonly etaSeconds?: number | null;
  /** Running transfers, one per line. */
  readonly running: readonly string[];
}

/** The lines of the block; the first two are the summary. */
export function totalsText(totals: Totals, elapsedMs: number): string[] {
  const { bytes, bytesTotal, files, filesTotal, skipped, failed, deleted = 0, running } = totals;
  const perSecond = totals.bytesPerSecond ?? Math.round(bytes / Math.max(elapsedMs / 1_000, 0.001));
  const guess = perSecond > 0 ? (bytesTotal - bytes) / perSecond : null;
  const eta = totals.etaSeconds === undefined ? guess : totals.etaSeconds;
  const share = bytesTotal > 0 ? `, ${Math.floor(Math.min(1, bytes / bytesTotal) * 100)} %` : '';
  const others = Object.entries({ skipped, failed, deleted }).filter(([, count]) => count > 0);
  const more = running.length > MOST_RUNNING ? [` * ${running.length - MOST_RUNNING} more`] : [];
  return [
    `Transferred:  ${bytesText(bytes)} / ${bytesText(bytesTotal)}${share}, ${bytesText(perSecond)}/s, ETA ${eta === null ? '-' : durationText(eta)}`,
    `Files:        ${files} / ${filesTotal}${others.map(([what, count]) => `, ${count} ${what}`).join('')}`,
    `Elapsed:      ${durationText(elapsedMs / 1_000)}`,
    ...running.slice(0, MOST_RUNNING).map((line) => ` * ${oneLine(line)}`),
    ...more,
  ];
}
