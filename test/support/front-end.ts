/** The front end for the tests of this process: TEST_FRONT_END, or the one that the gateway would choose itself. */
import { chooseFrontEnd, type FrontEndName } from '../../src/http/choose-front-end.js';

const ASKED = process.env['TEST_FRONT_END'];

export const FRONT_END: FrontEndName = chooseFrontEnd(ASKED === 'uws' || ASKED === 'node' ? ASKED : 'auto', 1).frontEnd;
