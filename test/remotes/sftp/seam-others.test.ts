import { describe } from 'node:test';
import { remoteSuite, seamOf } from '../../remote-suite.js';
import { LIMITED_OPENSSH, OPENSSH, OTHER_SFTP } from '../../servers/catalogue.js';

describe('SFTP', { concurrency: 4 }, () => {
  for (const entry of [...OPENSSH.slice(1), ...LIMITED_OPENSSH, ...OTHER_SFTP]) remoteSuite(entry.name, seamOf(entry));
});
