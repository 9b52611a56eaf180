import { fields } from '../../../../contract/derived/field-texts.ts';
import { alarms } from './alarms.ts';
import { audit } from './audit.ts';
import { common } from './common.ts';
import { connection } from './connection.ts';
import { connections } from './connections.ts';
import { deliveries } from './deliveries.ts';
import { events } from './events.ts';
import { files } from './files.ts';
import { folders } from './folders.ts';
import { form } from './form.ts';
import { health } from './health.ts';
import { jobs } from './jobs.ts';
import { keys } from './keys.ts';
import { links } from './links.ts';
import { login } from './login.ts';
import { overview } from './overview.ts';
import { palette } from './palette.ts';
import { pools } from './pools.ts';
import { queue } from './queue.ts';
import { schedules } from './schedules.ts';
import { session } from './session.ts';
import { settings } from './settings.ts';
import { shell } from './shell.ts';
import { terms } from './terms.ts';
import { transfers } from './transfers.ts';
import { usage } from './usage.ts';
import { watched } from './watched.ts';
import { webhooks } from './webhooks.ts';
import { words } from './words.ts';

export const texts = {
  alarms,
  audit,
  common,
  connection,
  connections,
  deliveries,
  events,
  fields,
  files,
  folders,
  form,
  health,
  jobs,
  keys,
  links,
  login,
  overview,
  palette,
  pools,
  queue,
  schedules,
  session,
  settings,
  shell,
  terms,
  transfers,
  usage,
  watched,
  webhooks,
  words,
};

export type Texts = typeof texts;
