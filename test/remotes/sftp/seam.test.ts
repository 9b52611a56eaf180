import { describe } from 'node:test';
import { misreportingSuite, remoteSuite, seamOf } from '../../remote-suite.js';
import { SFTP_SERVERS } from '../../servers/catalogue.js';
import { startMisreportingSftp } from '../../servers/misreporting.js';

describe('SFTP', { concurrency: 4 }, () => {
  for (const entry of SFTP_SERVERS.slice(0, 1)) remoteSuite(entry.name, seamOf(entry));
  misreportingSuite('SFTP', () => startMisreportingSftp());
  misreportingSuite('SFTP without FSTAT', () => startMisreportingSftp('FSTAT'));
});
