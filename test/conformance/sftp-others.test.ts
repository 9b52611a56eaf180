import { OTHER_SFTP } from '../servers/catalogue.js';
import { conformance } from '../http-suite.js';

for (const entry of OTHER_SFTP) conformance(entry);
