import { common } from './common.ts';
import { queue } from './queue.ts';
import { settings } from './settings.ts';

export const texts = { common, queue, settings };

export type Texts = typeof texts;
