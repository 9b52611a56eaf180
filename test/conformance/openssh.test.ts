import { OPENSSH } from '../servers/catalogue.js';
import { conformance } from '../http-suite.js';

for (const entry of OPENSSH) conformance(entry);
