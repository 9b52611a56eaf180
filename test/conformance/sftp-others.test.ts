import { OTHER_SFTP } from './servers.js';
import { conformance } from './suite.js';

for (const entry of OTHER_SFTP) conformance(entry);
