import { PROFTPD } from './servers.js';
import { conformance } from './suite.js';

for (const entry of PROFTPD) conformance(entry);
