/** One server of each protocol. */
import { describe } from 'node:test';
import { OPENSSH, S3_SERVERS, VSFTPD } from '../../servers/catalogue.js';
import { FILE_TOOLS, toolsSuite } from './suite.js';

const [openssh] = OPENSSH;

describe('at once', { concurrency: true }, () => {
  if (openssh !== undefined) toolsSuite(openssh);
  for (const [first] of [VSFTPD, S3_SERVERS]) if (first !== undefined) toolsSuite(first, FILE_TOOLS);
});
