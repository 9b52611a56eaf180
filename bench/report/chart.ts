/** Bars as SVG, one chart per case: the rates of every scenario's contenders, each scenario with its own scale. */
import { medianOf, type ScenarioResult } from '../measure.js';

const WIDTH = 860;
const LABEL_WIDTH = 210;
const BAR_HEIGHT = 18;
const GAP = 6;
const HEAD = 30;
const OURS = '#2563eb';
const THEIRS = '#9ca3af';

export function chart(title: string, scenarios: readonly ScenarioResult[]): string {
  const parts: string[] = [];
  let y = HEAD + 14;
  for (const { name, unit, contenders } of scenarios) {
    const rates = contenders.map((contender) => medianOf(contender, 'rate'));
    const most = Math.max(...rates.filter((rate) => !Number.isNaN(rate)), 1e-9);
    parts.push(text(8, y, name, 'bold'));
    y += 10;
    for (const [index, contender] of contenders.entries()) {
      const rate = rates[index] ?? NaN;
      const length = Number.isNaN(rate) ? 0 : (rate / most) * (WIDTH - LABEL_WIDTH - 120);
      const fill = index === 0 ? OURS : THEIRS;
      const label = Number.isNaN(rate) ? 'failed' : `${rate.toFixed(unit === 'MB/s' ? 1 : 0)} ${unit}`;
      parts.push(text(20, y + 13, contender.name));
      parts.push(
        `<rect x="${LABEL_WIDTH}" y="${y}" width="${length.toFixed(1)}" height="${BAR_HEIGHT}" fill="${fill}"/>`,
      );
      parts.push(text(LABEL_WIDTH + length + 6, y + 13, label));
      y += BAR_HEIGHT + GAP;
    }
    y += 22;
  }
  const size = `width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}"`;
  const frame = `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="12">`;
  return [
    frame,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    text(8, 20, title, 'bold'),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function text(x: number, y: number, words: string, weight = 'normal'): string {
  const escaped = words.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<text x="${x.toFixed(1)}" y="${y}" font-weight="${weight}">${escaped}</text>`;
}
