/** Every screen, dark. */
import { inspectFurnished } from './inspection.js';

inspectFurnished('dark');
