import { describe } from 'node:test';
import { remoteSuite, seamOf } from '../../remote-suite.js';
import { SFTP_SERVERS } from '../../servers/catalogue.js';

describe('SFTP', { concurrency: 4 }, () => {
  for (const entry of SFTP_SERVERS) remoteSuite(entry.name, seamOf(entry));
});
