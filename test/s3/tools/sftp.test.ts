/** SFTP servers except the first one. */
import { describe } from 'node:test';
import { LIMITED_OPENSSH, OPENSSH, OTHER_SFTP } from '../../servers/catalogue.js';
import { OTHERS_TOOLS, toolsSuite } from './suite.js';

describe('two at once', { concurrency: 2 }, () => {
  for (const entry of [...OPENSSH.slice(1), ...LIMITED_OPENSSH, ...OTHER_SFTP]) toolsSuite(entry, OTHERS_TOOLS);
});
