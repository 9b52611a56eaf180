import { LIMITED_OPENSSH } from '../servers/catalogue.js';
import { conformance } from '../http-suite.js';

for (const entry of LIMITED_OPENSSH) conformance(entry);
