/** FTP servers except the first one. */
import { describe } from 'node:test';
import { LIMITED_VSFTPD, PROFTPD, PURE_FTPD, VSFTPD } from '../../servers/catalogue.js';
import { OTHERS_TOOLS, toolsSuite } from './suite.js';

describe('two at once', { concurrency: 2 }, () => {
  for (const entry of [...VSFTPD.slice(1), ...LIMITED_VSFTPD, ...PURE_FTPD, ...PROFTPD])
    toolsSuite(entry, OTHERS_TOOLS);
});
