/** FTP connections, with or without TLS. */
import { oneOf } from '../schema.js';
import { given } from '../thing.js';
import { connectionType } from './definition.js';
import { certificates, everywhere, login, onServers, password } from './fields.js';

const settings = {
  ...everywhere,
  ...login(21),
  tls: given(oneOf(['none', 'explicit', 'implicit'], 'How the control connection is encrypted.'), {
    texts: {
      label: 'Encryption',
      hint: 'How the control connection is encrypted.',
      choices: { explicit: 'Explicit TLS (AUTH TLS)', implicit: 'Implicit TLS', none: 'None' },
    },
    default: 'none',
  }),
  ...certificates,
  ...onServers,
};

export const ftp = connectionType('ftp', {
  title: 'FTP, FTPS',
  example: {
    id: 'legacy',
    name: 'Legacy',
    host: 'ftp.example.com',
    username: 'gw',
    password: '${LEGACY_PASSWORD}',
    tls: 'explicit',
    defaultPath: '/',
  },
  settings,
  secrets: { password },
  address: ['host', 'port'],
  can: { exec: false, append: true, hostKeys: false, rawNames: true, isObjectStore: false },
  hasCertificate: ({ tls }) => tls !== 'none',
  advice: ({ code, step }) =>
    code === 'unreachable' && step !== 'connect'
      ? 'The control connection works, but no data connection: have the passive ports of the server opened in its firewall.'
      : undefined,
});
