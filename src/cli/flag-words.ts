/** Errors of the gateway name fields of its API; this module replaces them by options of the command line. */
import type { Option } from 'commander';
import { capital } from '../base/letters.js';
import { apiKeyFields } from '../contract/api-key.js';
import {
  auditListFilters,
  deliveryListFilters,
  jobFilters,
  managedTransferFilters,
  transferListFilters,
} from '../contract/filters.js';
import { jobOptionFields } from '../contract/job.js';
import { watchedFolderFields } from '../contract/watched-folder.js';
import { webhookFields } from '../contract/webhook.js';
import { fieldOptionsOf } from './field-options.js';

const FILTERS = [transferListFilters, managedTransferFilters, jobFilters, deliveryListFilters, auditListFilters];

/** Fields whose option has another name. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  overlapMinutes: 'overlap',
  filename_template: 'template',
  ...Object.fromEntries(
    [apiKeyFields, jobOptionFields, watchedFolderFields, webhookFields, ...FILTERS]
      .flatMap(fieldOptionsOf)
      .map(({ field, option }) => [field, option.attributeName()]),
  ),
};

/** "allowedIps.0 must …" becomes "--ip must …" where the command has that option. */
export function inFlags(message: string, options: readonly Option[]): string {
  const [field = ''] = /^[A-Za-z_]\w*(?:\.\w+)*(?= )/.exec(message) ?? [];
  const flag = field === '' ? undefined : flagOf(field, options);
  return flag === undefined ? message : `${flag}${message.slice(field.length)}`;
}

function flagOf(field: string, options: readonly Option[]): string | undefined {
  const names = field.split('.').filter((name) => !/^\d+$/.test(name));
  const joined = names.map((name, at) => (at === 0 ? name : capital(name))).join('');
  // In "job.source.path" the last name is the most specific.
  const candidates = [joined, ...names.toReversed()].flatMap((name) => [name, OTHER_NAMES[name], `${name}File`]);
  for (const name of candidates) {
    const option = options.find((one) => one.attributeName() === name);
    if (option !== undefined && typeof option.long === 'string') return option.long;
  }
  return undefined;
}
