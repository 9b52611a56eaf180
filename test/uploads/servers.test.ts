/** Resumable uploads on one server of each protocol. */
import { describe } from 'node:test';
import { FTP_SERVERS, S3_SERVERS, SFTP_SERVERS } from '../servers/catalogue.js';
import { uploadSuite } from './server-suite.js';

describe('resumable uploads', { concurrency: 3 }, () => {
  for (const servers of [SFTP_SERVERS, FTP_SERVERS, S3_SERVERS]) servers.slice(0, 1).forEach(uploadSuite);
});
