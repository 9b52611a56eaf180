/** The FTP servers but the first. */
import { PROFTPD, PURE_FTPD, VSFTPD } from '../../servers/catalogue.js';
import { toolsSuite } from './suite.js';

[...VSFTPD.slice(1), ...PURE_FTPD, ...PROFTPD].forEach(toolsSuite);
