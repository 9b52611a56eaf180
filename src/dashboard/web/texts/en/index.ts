import { common } from './common.ts';
import { login } from './login.ts';
import { palette } from './palette.ts';
import { queue } from './queue.ts';
import { session } from './session.ts';
import { settings } from './settings.ts';
import { shell } from './shell.ts';
import { terms } from './terms.ts';

export const texts = {
  common,
  login,
  palette,
  queue,
  session,
  settings,
  shell,
  terms,
};

export type Texts = typeof texts;
