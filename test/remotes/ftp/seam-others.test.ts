import { describe } from 'node:test';
import { remoteSuite, seamOf } from '../../remote-suite.js';
import { FTP_SERVERS } from '../../servers/catalogue.js';

describe('FTP', { concurrency: 4 }, () => {
  for (const entry of FTP_SERVERS.slice(1)) remoteSuite(entry.name, seamOf(entry));
});
