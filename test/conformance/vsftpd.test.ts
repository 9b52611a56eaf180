import { VSFTPD } from '../servers/catalogue.js';
import { conformance } from '../http-suite.js';

for (const entry of VSFTPD) conformance(entry);
