/** The things whose fields are in forms and among facts. */
import { alarmFields } from './alarm.js';
import { apiKeyFields } from './api-key.js';
import { brandFields } from './brand.js';
import { connectionFields, hostKeyFields } from './connection/fields.js';
import { ftp } from './connection/ftp.js';
import { s3 } from './connection/s3.js';
import { sftp } from './connection/sftp.js';
import { copyFields, deliveryFields } from './delivery.js';
import { jobFields, jobOptionFields } from './job.js';
import { keyPairFields } from './key-pair.js';
import { linkFields } from './link.js';
import { scheduleFields } from './schedule.js';
import type { TextsOf } from './thing.js';
import { watchedFolderFields } from './watched-folder.js';
import { webhookFields } from './webhook.js';

/** The fields of all types. A field of several types has the same texts in all of them. */
const allConnections = {
  ...connectionFields,
  ...hostKeyFields,
  ...s3.settings,
  ...s3.secrets,
  ...ftp.settings,
  ...ftp.secrets,
  ...sftp.settings,
  ...sftp.secrets,
};

export const THINGS = {
  alarms: alarmFields,
  apiKey: apiKeyFields,
  brand: brandFields,
  connection: allConnections,
  copy: copyFields,
  delivery: deliveryFields,
  job: jobFields,
  jobOptions: jobOptionFields,
  keyPair: keyPairFields,
  link: linkFields,
  schedule: scheduleFields,
  watchedFolder: watchedFolderFields,
  webhook: webhookFields,
};
export type Thing = keyof typeof THINGS;

export type ThingTexts = { readonly [T in Thing]: TextsOf<(typeof THINGS)[T]> };
