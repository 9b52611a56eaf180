/** `npm run bench`: runs the cases one after the other and writes the report. See options.ts for the options. */
import { ensurePackages, SWIFT } from '../test/servers/packages.js';
import { CASES } from './cases/all.js';
import { Lab } from './lab/lab.js';
import { measure, type ScenarioResult } from './measure.js';
import { readOptions, USAGE, type BenchOptions } from './options.js';
import { partsOf, readProfile } from './report/profile.js';
import { publish } from './report/publish.js';
import { machineFacts, writeReport } from './report/report.js';
import { markdown, type CaseResult } from './report/table.js';
import { hasAwsCli } from './rivals/command-line.js';
import { hasRclone } from './rivals/rclone.js';
import type { BenchCase } from './scenario.js';

const args = process.argv.slice(2);
const options = optionsOrUsage();
if (options !== undefined) await bench(options);

function optionsOrUsage(): BenchOptions | undefined {
  try {
    return readOptions(
      args,
      CASES.map(({ name }) => name),
    );
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exitCode = 64;
    return undefined;
  }
}

async function bench(chosen: BenchOptions): Promise<void> {
  await ensurePackages([
    'openssh-server',
    'vsftpd',
    'postgresql',
    ...SWIFT,
    'rclone',
    'curl',
    'openssl',
    'sshfs',
    'chromium',
    'dante-server',
  ]);
  const machine = machineFacts();
  const remarks = [
    ...((await hasAwsCli()) ? [] : ['The AWS CLI is not installed here and was left out.']),
    ...((await hasRclone()) ? [] : ['rclone is not installed here and was left out.']),
  ];
  const startedAt = new Date().toISOString();
  const cases: CaseResult[] = [];
  for (const each of CASES.filter(({ name }) => chosen.cases.includes(name))) cases.push(await runCase(each, chosen));
  const report = {
    startedAt,
    machine,
    options: args.length === 0 ? '' : ` -- ${args.join(' ')}`,
    remarks,
    cases,
  };
  const place = writeReport(report, chosen.results);
  if (chosen.publish) publish(report);
  console.log(`\n${markdown(report)}\nwritten to ${place}`);
}

async function runCase(
  { name, title, about, scenarios, summary, pictured }: BenchCase,
  chosen: BenchOptions,
): Promise<CaseResult> {
  console.log(`\n${name}: ${title}`);
  const lab = new Lab({ profileFolder: chosen.profileFolder });
  const interrupted = (): void => void lab.close().finally(() => process.exit(130));
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);
  const results: ScenarioResult[] = [];
  try {
    for await (const scenario of scenarios(lab, chosen)) {
      // Only at the beginning of a word: "ftp" is not in "sftp".
      if (!` ${scenario.name}`.includes(` ${chosen.only}`)) continue;
      const result = await measure(scenario, chosen.repeat, (text) => console.log(`  ${text}`));
      results.push(result);
      // A gateway that fails its work is a finding, not a slow sample.
      if (result.contenders[0]?.failure !== undefined) process.exitCode = 1;
    }
  } finally {
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
    await lab.close();
  }
  const parts = partsOf(lab.profiles.map(readProfile));
  const inPicture = pictured?.(results) ?? results;
  return { name, title, about, summary: summary?.(results) ?? [], scenarios: results, pictured: inPicture, parts };
}
