/** Servers that cannot write at any offset of a file. */
import { LIMITED_VSFTPD, OTHER_SFTP } from '../servers/catalogue.js';
import { multipartSuite } from './multipart-suite.js';

multipartSuite([...OTHER_SFTP.filter(({ name }) => name === 'rclone'), ...LIMITED_VSFTPD]);
