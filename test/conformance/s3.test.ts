import { S3_SERVERS } from './servers.js';
import { conformance } from './suite.js';

for (const entry of S3_SERVERS) conformance(entry);
