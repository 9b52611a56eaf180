import { describe } from 'node:test';
import { OPENSSH, S3_SERVERS, VSFTPD } from '../servers/catalogue.js';
import { s3Suite } from './suite.js';

describe('at once', { concurrency: true }, () =>
  [OPENSSH, VSFTPD, S3_SERVERS].forEach(([first]) => first && s3Suite(first)),
);
