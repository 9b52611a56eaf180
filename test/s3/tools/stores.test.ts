/** Object stores except the first one. */
import { describe } from 'node:test';
import { RADOSGW, S3_SERVERS } from '../../servers/catalogue.js';
import { OTHERS_TOOLS, toolsSuite } from './suite.js';

describe('two at once', { concurrency: 2 }, () => {
  for (const entry of [...S3_SERVERS.slice(1), ...RADOSGW]) toolsSuite(entry, OTHERS_TOOLS);
});
