/** One server of each protocol. */
import { describe } from 'node:test';
import { OPENSSH, S3_SERVERS, VSFTPD } from '../../servers/catalogue.js';
import { toolsSuite } from './suite.js';

describe('at once', { concurrency: true }, () =>
  [OPENSSH, VSFTPD, S3_SERVERS].forEach(([first]) => first && toolsSuite(first)),
);
