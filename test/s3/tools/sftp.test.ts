/** The SFTP servers but the first. */
import { LIMITED_OPENSSH, OPENSSH, OTHER_SFTP } from '../../servers/catalogue.js';
import { toolsSuite } from './suite.js';

[...OPENSSH.slice(1), ...LIMITED_OPENSSH, ...OTHER_SFTP].forEach(toolsSuite);
