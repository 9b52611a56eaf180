import { plural } from '../plural.ts';

export const palette = {
  title: 'Search and commands',
  placeholder: 'A screen, a connection, an action, an id …',
  results: 'Results',
  none: 'No results. Try fewer letters.',
  count: (count: number): string => plural(count, { one: '1 result', other: `${count} results` }),
  filesOf: (name: string): string => `Files of ${name}`,
  kinds: {
    screen: 'Screen',
    action: 'Action',
    connection: 'Connection',
    files: 'Files',
    watched: 'Watched folder',
    webhook: 'Webhook',
    key: 'API key',
    transfer: 'Transfer',
  },
  byId: { transfers: 'Open the transfer with this id', jobs: 'Open the job with this id' },
  does: {
    upload: 'Upload files',
    issueKey: 'Issue an API key',
    newJob: 'Start a job',
    newSchedule: 'Create a schedule',
    theme: (name: string): string => `Colours: ${name}`,
    language: (name: string): string => `Language: ${name}`,
    keyboard: 'Show keyboard shortcuts',
    docs: 'Open the API reference',
  },
};
