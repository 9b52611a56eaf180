/** Writes a run's report: JSON with every sample, a Markdown page and one chart per case. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { chart } from './chart.js';
import { markdown, type Report } from './table.js';

/** Resolves with the folder. */
export function writeReport(report: Report, folder: string): string {
  const place = join(folder, report.startedAt.replaceAll(/[:.]/g, '-'));
  mkdirSync(place, { recursive: true });
  const samples = { ...report, cases: report.cases.map((each) => ({ ...each, pictured: undefined })) };
  writeFileSync(join(place, 'report.json'), `${JSON.stringify(samples, null, 2)}\n`);
  writeFileSync(join(place, 'report.md'), markdown(report));
  for (const { name, title, pictured } of report.cases) {
    writeFileSync(join(place, `${name}.svg`), chart(title, pictured));
  }
  return place;
}

/** Facts that affect the figures. */
export function machineFacts(): string[] {
  const [cpu] = os.cpus();
  return [
    `${os.cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${Math.round(os.totalmem() / 1024 ** 3)} GiB, Linux ${os.release()}`,
    `Node.js ${process.version}, ${version('ssh', '-V')}, ${version('curl', '--version')}, ${version('rclone', 'version')}`,
    `load average at the start: ${os
      .loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  ];
}

function version(command: string, flag: string): string {
  // ssh prints its version on standard error.
  const script = `${command} ${flag} 2>&1`;
  return (execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\n')[0] ?? '').split(/,| \(/)[0] ?? command;
}
