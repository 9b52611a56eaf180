/**
 * Runs the tests of one or more tiers (test/tiers.ts), or those whose path contains one of the arguments, in any tier.
 * Without either, `npm test`: unit and main. `--install` only installs what they need.
 */
import { execute, prepareScratch } from './runner/execution.js';
import { provide } from './runner/needs.js';
import { Report } from './runner/report.js';
import { runOnChange } from './runner/on-change.js';
import { parseRequest, select, selectForNode } from './runner/selection.js';

const request = parseRequest(process.argv.slice(2));
if (request.isWatching) await runOnChange(request);
else process.exitCode = await run();

async function run(): Promise<0 | 1> {
  const files = select(request);
  const onNodeToo = selectForNode(request);
  await provide([...files, ...onNodeToo]);
  if (request.onlyInstalls) return 0;
  prepareScratch();
  const report = new Report();
  await execute({ files, onNodeToo, endsWhatHangs: request.parts.length === 0 }, report);
  return report.print();
}
