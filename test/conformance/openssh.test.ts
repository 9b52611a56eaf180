import { describe } from 'node:test';
import { httpSuite } from '../http-suite.js';
import { OPENSSH } from '../servers/catalogue.js';

// Much of it is waiting: for clocks to go on, for programs to start.
describe('at once', { concurrency: true }, () => OPENSSH.slice(0, 1).forEach(httpSuite));
