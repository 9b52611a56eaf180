/**
 * Runs the tests of one tier or more (test/tiers.ts), or those whose path contains one of the arguments, whatever their
 * tier. Without either, `npm test`: unit and main.
 */
import { execute, prepareScratch } from './runner/execution.js';
import { provide } from './runner/needs.js';
import { Report } from './runner/report.js';
import { parseRequest, select } from './runner/selection.js';

const request = parseRequest(process.argv.slice(2));
const files = select(request);
await provide(files);
prepareScratch();
const report = new Report();
await execute(
  { files, onBothFrontEnds: request.tiers.includes('rest'), endsWhatHangs: request.parts.length === 0 },
  report,
);
process.exitCode = report.print();
