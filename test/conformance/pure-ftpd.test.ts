import { PURE_FTPD } from '../servers/catalogue.js';
import { conformance } from '../http-suite.js';

for (const entry of PURE_FTPD) conformance(entry);
