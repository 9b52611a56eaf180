import { PROFTPD } from '../servers/catalogue.js';
import { conformance } from '../http-suite.js';

for (const entry of PROFTPD) conformance(entry);
