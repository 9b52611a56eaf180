/** Resumable uploads on all servers except the first of each protocol. */
import { describe } from 'node:test';
import { FTP_SERVERS, LIMITED_OPENSSH, LIMITED_VSFTPD, OPENSSH, OTHER_SFTP, S3_SERVERS } from '../servers/catalogue.js';
import { uploadSuite } from './server-suite.js';

const SFTP = [...OPENSSH, ...LIMITED_OPENSSH, ...OTHER_SFTP];

describe('resumable uploads', { concurrency: 3 }, () => {
  for (const servers of [SFTP, [...FTP_SERVERS, ...LIMITED_VSFTPD.slice(0, 1)], S3_SERVERS])
    servers.slice(1).forEach(uploadSuite);
});
