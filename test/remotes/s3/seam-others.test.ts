import { describe } from 'node:test';
import { remoteSuite, seamOf } from '../../remote-suite.js';
import { S3_SERVERS } from '../../servers/catalogue.js';

describe('S3', { concurrency: 4 }, () => {
  for (const entry of S3_SERVERS.slice(1)) remoteSuite(entry.name, seamOf(entry));
});
