import { plural } from '../plural.ts';

export const connections = {
  lead: 'The servers that files go to and come from.',
  add: 'Add a connection',
  full: (limit: number): string =>
    `The plan allows ${plural(limit, { one: '1 connection', other: `${limit} connections` })}, and all are in use.`,
  fullText: 'The operator of this gateway can set a plan that allows more.',
  none: 'No connection yet',
  noneText:
    'A connection is one login on an SFTP, FTP or S3 server. Programs use it by its id and never see the password.',
  name: 'Name',
  server: 'Server',
  status: { off: 'Switched off', down: 'Down', failing: 'Failing', unknown: 'Not checked', up: 'Up' },
  withStatus: (name: string, status: string): string => `${name} (${status.toLowerCase()})`,
  fromFile: 'Configuration file',
  lastTest: 'Last test',
  never: 'Never',
  passed: 'Passed',
  failed: 'Failed',
  filesOf: (name: string): string => ` of ${name}`,
  bucketAt: (bucket: string, endpoint: string): string => `${bucket} at ${endpoint}`,
};
