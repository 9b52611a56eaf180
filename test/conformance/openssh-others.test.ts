import { describe } from 'node:test';
import { httpSuite } from '../http-suite.js';
import { OPENSSH } from '../servers/catalogue.js';

// Most of it is waiting: for clocks to advance, for programs to start.
describe('at once', { concurrency: true }, () => OPENSSH.slice(1).forEach(httpSuite));
