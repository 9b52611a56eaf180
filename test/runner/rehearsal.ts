/** Runs the files of its arguments together in one process, as the runner does: what its test watches from outside. */
import { prepareScratch, runBatches } from './execution.js';
import { Report } from './report.js';

prepareScratch();
const report = new Report();
const [timeout = '', ...files] = process.argv.slice(2);
await runBatches(
  { alone: [], together: [files] },
  [],
  { concurrency: 1, timeout: Number(timeout), print: (text) => process.stdout.write(text) },
  report,
);
process.exitCode = report.print();
