import type { Texts } from '../en/index.ts';
import { common } from './common.ts';
import { queue } from './queue.ts';
import { settings } from './settings.ts';

export const texts: Texts = { common, queue, settings };
