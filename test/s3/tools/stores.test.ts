/** The stores but the first. */
import { S3_SERVERS } from '../../servers/catalogue.js';
import { toolsSuite } from './suite.js';

S3_SERVERS.slice(1).forEach(toolsSuite);
