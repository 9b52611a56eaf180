import { OPENSSH } from './servers.js';
import { conformance } from './suite.js';

for (const entry of OPENSSH) conformance(entry);
