import { LIMITED_OPENSSH } from './servers.js';
import { conformance } from './suite.js';

for (const entry of LIMITED_OPENSSH) conformance(entry);
