import { common } from './common.ts';
import { settings } from './settings.ts';

export const texts = { common, settings };

export type Texts = typeof texts;
