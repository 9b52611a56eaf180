import { describe } from 'node:test';
import { httpSuite } from '../http-suite.js';
import { S3_SERVERS } from '../servers/catalogue.js';

// Much of it is waiting: for clocks to go on, for programs to start.
describe('at once', { concurrency: true }, () => S3_SERVERS.slice(1).forEach(httpSuite));
