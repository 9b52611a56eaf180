import { S3_SERVERS } from '../servers/catalogue.js';
import { conformance } from '../http-suite.js';

for (const entry of S3_SERVERS) conformance(entry);
