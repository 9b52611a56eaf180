import { PURE_FTPD } from './servers.js';
import { conformance } from './suite.js';

for (const entry of PURE_FTPD) conformance(entry);
