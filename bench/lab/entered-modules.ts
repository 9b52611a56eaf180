/**
 * Loaded before a gateway. On SIGUSR2 it writes the addresses of the modules in which a function was entered since the
 * last signal, as JSON into the file that ENTERED_FILE names.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) countEntries(process.env['ENTERED_FILE'] ?? '');

function countEntries(file: string): void {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  process.on('SIGUSR2', () => {
    session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
      const entered = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
      // A reader must not find half of it.
      writeFileSync(`${file}.part`, JSON.stringify(entered.map(({ url }) => url)));
      renameSync(`${file}.part`, file);
    });
  });
}
