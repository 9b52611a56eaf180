import type { Texts } from '../en/index.ts';
import { common } from './common.ts';
import { settings } from './settings.ts';

export const texts: Texts = { common, settings };
