import { actions, type AuditArea } from '../../../../contract/audit.ts';

const areas: Readonly<Record<AuditArea, string>> = {
  login: 'Logins',
  session: 'Sessions',
  account: 'Account',
  connection: 'Connections',
  api_key: 'API keys',
  key_pair: 'Key pairs',
  schedule: 'Schedules',
  alarms: 'Alarms',
  watched_folder: 'Watched folders',
  delivery: 'Deliveries',
  webhook: 'Webhooks',
  webhook_secret: 'Webhook secret of the account',
  link: 'Links',
  transfer: 'Transfers',
};

export const audit = {
  lead: 'Every change and every login, including refused ones.',
  areas,
  none: 'No entries',
  noneText: 'Changes to connections, keys and the account appear here, with who made them and from which address.',
  action: 'Action',
  on: 'Target',
  actor: 'By',
  address: 'Address',
  raw: 'The raw entry',
  openOne: (sentence: string): string => `Open: ${sentence}`,
  anonymous: 'someone who is not logged in',
  by: (sentence: string, actor: string): string => `${sentence}, by ${actor}`,
  actions,
};
