import type { Texts } from '../en/index.ts';
import { common } from './common.ts';
import { deliveries } from './deliveries.ts';
import { folders } from './folders.ts';
import { login } from './login.ts';
import { palette } from './palette.ts';
import { queue } from './queue.ts';
import { session } from './session.ts';
import { settings } from './settings.ts';
import { shell } from './shell.ts';
import { terms } from './terms.ts';
import { watched } from './watched.ts';
import { webhooks } from './webhooks.ts';

export const texts: Texts = {
  common,
  deliveries,
  folders,
  login,
  palette,
  queue,
  session,
  settings,
  shell,
  terms,
  watched,
  webhooks,
};
