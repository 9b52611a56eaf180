import { describe } from 'node:test';
import { misreportingSuite, remoteSuite, seamOf } from '../../remote-suite.js';
import { FTP_SERVERS } from '../../servers/catalogue.js';
import { startMisreportingFtp } from '../../servers/misreporting.js';

describe('FTP', { concurrency: 4 }, () => {
  for (const entry of FTP_SERVERS.slice(0, 1)) remoteSuite(entry.name, seamOf(entry));
  for (const by of ['SIZE', 'MLST'] as const) misreportingSuite(`FTP with ${by}`, () => startMisreportingFtp(by));
});
