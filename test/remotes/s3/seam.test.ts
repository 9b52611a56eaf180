import { describe } from 'node:test';
import { misreportingSuite, remoteSuite, seamOf } from '../../remote-suite.js';
import { S3_SERVERS } from '../../servers/catalogue.js';
import { startMisreportingS3 } from '../../servers/misreporting.js';

describe('S3', { concurrency: 4 }, () => {
  for (const entry of S3_SERVERS.slice(0, 1)) remoteSuite(entry.name, seamOf(entry));
  misreportingSuite('S3', startMisreportingS3);
});
