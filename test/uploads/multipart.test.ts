/** One server of each protocol. */
import { OPENSSH, S3_SERVERS, VSFTPD } from '../servers/catalogue.js';
import { multipartSuite } from './multipart-suite.js';

multipartSuite([OPENSSH[1], VSFTPD[0], S3_SERVERS[0]].filter((entry) => entry !== undefined));
