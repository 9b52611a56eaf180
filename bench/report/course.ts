/** The course of a soak's memory as SVG: resident memory and heap over the minutes, and the limit. */
import { median, type Course } from './flatness.js';

export interface MemorySample {
  readonly atSeconds: number;
  readonly memoryMiB: number;
  readonly heapMiB: number;
}

/** Warm by then; later values may be at most this much higher. */
export const WARM_MINUTE = 10;
export const HIGHEST_RATIO = 1.2;
const WIDTH = 860;
const HEIGHT = 320;
const LEFT = 56;
const RIGHT = 16;
const TOP = 40;
const BOTTOM = 36;

/** The last tenth compared with the minutes around the tenth; undefined if the run was too short. */
export function againstWarm(samples: readonly MemorySample[]): Course | undefined {
  const around = samples.filter(({ atSeconds }) => Math.abs(atSeconds / 60 - WARM_MINUTE) <= 2);
  const last = samples.slice(-Math.ceil(samples.length / 10));
  const [end] = last.slice(-1);
  if (around.length === 0 || end === undefined || end.atSeconds < 2 * WARM_MINUTE * 60) return undefined;
  const from = median(around.map(({ memoryMiB }) => memoryMiB));
  const to = median(last.map(({ memoryMiB }) => memoryMiB));
  return { flat: to <= from * HIGHEST_RATIO, from, to };
}

export function drawCourse(title: string, samples: readonly MemorySample[]): string {
  const lastMinute = Math.max(1, ...samples.map(({ atSeconds }) => atSeconds / 60));
  const bound = (againstWarm(samples)?.from ?? 0) * HIGHEST_RATIO;
  const most = Math.ceil(Math.max(1, bound, ...samples.map(({ memoryMiB }) => memoryMiB)) / 50) * 50;
  const x = (minute: number): number => LEFT + (minute / lastMinute) * (WIDTH - LEFT - RIGHT);
  const y = (mib: number): number => HEIGHT - BOTTOM - (mib / most) * (HEIGHT - TOP - BOTTOM);
  const line = (field: 'memoryMiB' | 'heapMiB', colour: string): string => {
    const points = samples.map((sample) => `${x(sample.atSeconds / 60).toFixed(1)},${y(sample[field]).toFixed(1)}`);
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`;
  };
  const rule = (mib: number, look: string): string =>
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(mib).toFixed(1)}" y2="${y(mib).toFixed(1)}" ${look}/>`;
  const levels = Array.from({ length: most / 50 + 1 }, (_, index) => index * 50);
  const everyMinutes = Math.max(1, Math.ceil(lastMinute / 10));
  const minutes = Array.from({ length: Math.floor(lastMinute / everyMinutes) + 1 }, (_, index) => index * everyMinutes);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    text(8, 20, title, 'font-weight="bold"'),
    ...levels.flatMap((mib) => [
      rule(mib, 'stroke="#e5e7eb"'),
      text(LEFT - 6, y(mib) + 4, `${mib}`, 'text-anchor="end"'),
    ]),
    ...minutes.map((minute) => text(x(minute), HEIGHT - 16, `${minute} min`, 'text-anchor="middle"')),
    ...(bound === 0 ? [] : [rule(bound, 'stroke="#dc2626" stroke-dasharray="6 4"')]),
    line('memoryMiB', '#2563eb'),
    line('heapMiB', '#9ca3af'),
    text(WIDTH - RIGHT, 20, 'MiB: resident (blue), heap (grey), 20 % over minute ten (red)', 'text-anchor="end"'),
    '</svg>',
    '',
  ].join('\n');
}

function text(x: number, y: number, words: string, look: string): string {
  const escaped = words.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${look}>${escaped}</text>`;
}
