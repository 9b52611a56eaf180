import { VSFTPD } from './servers.js';
import { conformance } from './suite.js';

for (const entry of VSFTPD) conformance(entry);
